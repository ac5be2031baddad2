"""What a search will do: the choices that follow from its request, its query and its defaults."""
