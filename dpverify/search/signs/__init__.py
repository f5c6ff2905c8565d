"""Signs of expressions in parameters: found here, shown to the kernel by evidence.

Once it is imported signs are looked for wherever no other table is open.
"""

from dpverify.search.signs.seek import Sought
from dpverify.trusted.kernel.shown import underneath

underneath(Sought())
