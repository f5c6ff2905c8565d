"""Pipelines that cannot be read, run on two neighbouring inputs with the noisy outputs chosen by the test.

A pipeline that touches its data through noise primitives alone does the same on both inputs once the primitives' outputs are the same: that
is the contract, and what breaks it is shown with a pair of small inputs. What the primitives cost is proved like any other claim.

See docs/how-to/replay-a-pipeline.md.
"""

from dpverify.replays.adapters import ADAPTERS as ADAPTERS
from dpverify.replays.calls import Breach as Breach
from dpverify.replays.neighbours import Inputs as Inputs
from dpverify.replays.search import Found as Found
from dpverify.replays.search import search as search
