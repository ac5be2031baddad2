"""Figures for people: tables in the terminal and in Markdown, and one page of HTML."""
