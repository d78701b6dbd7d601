"""What the store keeps: to be listed, shown, compared, handed on, taken in, and removed.

selection   how stored models are named
listing, showing, comparing   reports about them
exporting, importing, removing   what is done with them, and `Done`, the report of it
"""

from .comparing import compare_models
from .exporting import export_models
from .importing import import_models
from .listing import list_models
from .removing import remove_models
from .selection import Filters
from .showing import show_model

__all__ = [
    "Filters",
    "compare_models",
    "export_models",
    "import_models",
    "list_models",
    "remove_models",
    "show_model",
]
