"""What a caller of Loom Recall needs: the wire models, which import no server code."""
