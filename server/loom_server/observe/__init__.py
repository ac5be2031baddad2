"""What an operator sees of the service: metrics and logs. Every floor above may tell them; they decide nothing.

No namespace, key, question, value or user is a label of a metric or a word of a log; a log names a
namespace by a keyed hash.
"""
