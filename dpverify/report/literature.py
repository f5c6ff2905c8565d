"""The texts of the field that rules name as their sources, as BibTeX; found by how a source names them: authors and year."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dpverify.catalogue.source import Source


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the field. kind: of its BibTeX entry; place: the field that says where it is, and what that says."""

    key: str
    kind: str
    authors: str
    title: str
    place: tuple[str, str]
    year: int

    def bibtex(self) -> str:
        """Its entry."""
        fields = (("author", self.authors), ("title", f"{{{self.title}}}"), self.place, ("year", str(self.year)))
        return f"@{self.kind}{{{self.key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields) + "}"


def _meeting(key: str, authors: str, title: str, place: str, year: int) -> Text:
    return Text(key, "inproceedings", authors, title, ("booktitle", place), year)


def _journal(key: str, authors: str, title: str, place: str, year: int) -> Text:
    return Text(key, "article", authors, title, ("journal", place), year)


def _other(key: str, authors: str, title: str, place: str, year: int) -> Text:
    return Text(key, "misc", authors, title, ("howpublished", place), year)


_RENYI: Final = "R{\\'e}nyi"
TEXTS: Final = {
    "Agarwal, Kairouz & Liu 2021": _meeting(
        "agarwal-kairouz-liu-2021", "Naman Agarwal and Peter Kairouz and Ziyu Liu",
        "The Skellam Mechanism for Differentially Private Federated Learning", "NeurIPS", 2021,
    ),
    "Balle and Wang 2018": _meeting(
        "balle-wang-2018", "Borja Balle and Yu-Xiang Wang",
        "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising", "ICML", 2018,
    ),
    "Balle, Barthe & Gaboardi 2018": _meeting(
        "balle-barthe-gaboardi-2018", "Borja Balle and Gilles Barthe and Marco Gaboardi",
        "Privacy Amplification by Subsampling: Tight Analyses via Couplings and Divergences", "NeurIPS", 2018,
    ),
    "Bun & Steinke 2016": _meeting(
        "bun-steinke-2016", "Mark Bun and Thomas Steinke",
        "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds", "TCC", 2016,
    ),
    "Canonne, Kamath & Steinke 2020": _meeting(
        "canonne-kamath-steinke-2020", "Cl{\\'e}ment Canonne and Gautam Kamath and Thomas Steinke",
        "The Discrete Gaussian for Differential Privacy", "NeurIPS", 2020,
    ),
    "Cesar & Rogers 2021": _meeting(
        "cesar-rogers-2021", "Mark Cesar and Ryan Rogers",
        "Bounding, Concentrating, and Truncating: Unifying Privacy Loss Composition for Data Analytics", "ALT", 2021,
    ),
    "Choquette-Choo et al. 2023": _meeting(
        "choquette-choo-et-al-2023",
        "Christopher A. Choquette-Choo and Arun Ganesh and Ryan McKenna and H. Brendan McMahan and Keith Rush and Abhradeep Guha Thakurta "
        "and Zheng Xu", "(Amplified) Banded Matrix Factorization: A Unified Approach to Private Training", "NeurIPS", 2023,
    ),
    "Denisov et al. 2022": _meeting(
        "denisov-et-al-2022", "Sergey Denisov and H. Brendan McMahan and John Rush and Adam Smith and Abhradeep Guha Thakurta",
        "Improved Differential Privacy for SGD via Optimal Private Linear Operators on Adaptive Streams", "NeurIPS", 2022,
    ),
    "Dong, Durfee & Rogers 2020": _meeting(
        "dong-durfee-rogers-2020", "Jinshuo Dong and David Durfee and Ryan Rogers",
        "Optimal Differential Privacy Composition for Exponential Mechanisms", "ICML", 2020,
    ),
    "Dong, Roth & Su 2022": _journal(
        "dong-roth-su-2022", "Jinshuo Dong and Aaron Roth and Weijie J. Su", "Gaussian Differential Privacy",
        "Journal of the Royal Statistical Society: Series B", 2022,
    ),
    "Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022": _journal(
        "doroshenko-et-al-2022", "Vadym Doroshenko and Badih Ghazi and Pritish Kamath and Ravi Kumar and Pasin Manurangsi",
        "Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions",
        "Proceedings on Privacy Enhancing Technologies", 2022,
    ),
    "Dwork & Roth 2014": _journal(
        "dwork-roth-2014", "Cynthia Dwork and Aaron Roth", "The Algorithmic Foundations of Differential Privacy",
        "Foundations and Trends in Theoretical Computer Science", 2014,
    ),
    "Feldman & Zrnic 2021": _meeting(
        "feldman-zrnic-2021", "Vitaly Feldman and Tijana Zrnic", f"Individual Privacy Accounting via a {_RENYI} Filter",
        "NeurIPS", 2021,
    ),
    "Feldman, McMillan & Talwar 2021": _meeting(
        "feldman-mcmillan-talwar-2021", "Vitaly Feldman and Audra McMillan and Kunal Talwar",
        "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy Amplification by Shuffling", "FOCS", 2021,
    ),
    "Geng & Viswanath 2016": _journal(
        "geng-viswanath-2016", "Quan Geng and Pramod Viswanath", "The Optimal Noise-Adding Mechanism in Differential Privacy",
        "IEEE Transactions on Information Theory", 2016,
    ),
    "Ghosh, Roughgarden & Sundararajan 2012": _journal(
        "ghosh-roughgarden-sundararajan-2012", "Arpita Ghosh and Tim Roughgarden and Mukund Sundararajan",
        "Universally Utility-Maximizing Privacy Mechanisms", "SIAM Journal on Computing", 2012,
    ),
    "Gupte & Sundararajan 2010": _meeting(
        "gupte-sundararajan-2010", "Mangesh Gupte and Mukund Sundararajan", "Universally Optimal Privacy Mechanisms for Minimax Agents",
        "PODS", 2010,
    ),
    "Hardt & Talwar 2010": _meeting(
        "hardt-talwar-2010", "Moritz Hardt and Kunal Talwar", "On the Geometry of Differential Privacy", "STOC", 2010,
    ),
    "Kairouz, Liu & Steinke 2021": _meeting(
        "kairouz-liu-steinke-2021", "Peter Kairouz and Ziyu Liu and Thomas Steinke",
        "The Distributed Discrete Gaussian Mechanism for Federated Learning with Secure Aggregation", "ICML", 2021,
    ),
    "Kairouz, Oh & Viswanath 2015": _meeting(
        "kairouz-oh-viswanath-2015", "Peter Kairouz and Sewoong Oh and Pramod Viswanath",
        "The Composition Theorem for Differential Privacy", "ICML", 2015,
    ),
    "Kalinin & Lampert 2024": _meeting(
        "kalinin-lampert-2024", "Nikita P. Kalinin and Christoph Lampert",
        "Banded Square Root Matrix Factorization for Differentially Private Model Training", "NeurIPS", 2024,
    ),
    "Kamath, CS 860 lecture 4 (2020)": _other(
        "kamath-2020", "Gautam Kamath", "CS 860: Algorithms for Private Data Analysis, lecture 4", "University of Waterloo", 2020,
    ),
    "Kleinberg & Ligett 2010": _other(
        "kleinberg-ligett-2010", "Jon Kleinberg and Katrina Ligett", "Information-Sharing and Privacy in Social Networks",
        "arXiv:1003.0469", 2010,
    ),
    "Lecuyer 2021": _other(
        "lecuyer-2021", "Mathias L{\\'e}cuyer", f"Practical Privacy Filters and Odometers with {_RENYI} Differential Privacy and "
        "Applications to Differentially Private Deep Learning", "arXiv", 2021,
    ),
    "Liese & Vajda 2006": _journal(
        "liese-vajda-2006", "Friedrich Liese and Igor Vajda", "On Divergences and Informations in Statistics and Information Theory",
        "IEEE Transactions on Information Theory", 2006,
    ),
    "McSherry & Talwar 2007": _meeting(
        "mcsherry-talwar-2007", "Frank McSherry and Kunal Talwar", "Mechanism Design via Differential Privacy", "FOCS", 2007,
    ),
    "McSherry 2009": _meeting(
        "mcsherry-2009", "Frank McSherry",
        "Privacy Integrated Queries: An Extensible Platform for Privacy-Preserving Data Analysis", "SIGMOD", 2009,
    ),
    "Mironov 2017": _meeting("mironov-2017", "Ilya Mironov", f"{_RENYI} Differential Privacy", "CSF", 2017),
    "Mironov, Talwar & Zhang 2019": _other(
        "mironov-talwar-zhang-2019", "Ilya Mironov and Kunal Talwar and Li Zhang",
        f"{_RENYI} Differential Privacy of the Sampled Gaussian Mechanism", "arXiv:1908.10530", 2019,
    ),
    "Murtagh & Vadhan 2016": _meeting(
        "murtagh-vadhan-2016", "Jack Murtagh and Salil Vadhan",
        "The Complexity of Computing the Optimal Composition of Differential Privacy", "TCC", 2016,
    ),
    "Papernot & Steinke 2022": _meeting(
        "papernot-steinke-2022", "Nicolas Papernot and Thomas Steinke", f"Hyperparameter Tuning with {_RENYI} Differential Privacy",
        "ICLR", 2022,
    ),
    "Prekopa 1973": _journal(
        "prekopa-1973", "Andr{\\'a}s Pr{\\'e}kopa", "On Logarithmic Concave Measures and Functions",
        "Acta Scientiarum Mathematicarum", 1973,
    ),
    "Reimherr & Awan 2019": _meeting(
        "reimherr-awan-2019", "Matthew Reimherr and Jordan Awan", "Elliptical Perturbations for Differential Privacy", "NeurIPS", 2019,
    ),
    "Rogers, Roth, Ullman & Vadhan 2016": _meeting(
        "rogers-roth-ullman-vadhan-2016", "Ryan Rogers and Aaron Roth and Jonathan Ullman and Salil Vadhan",
        "Privacy Odometers and Filters: Pay-as-you-Go Composition", "NeurIPS", 2016,
    ),
    "Smith & Thakurta 2022": _other(
        "smith-thakurta-2022", "Adam Smith and Abhradeep Thakurta", "Fully Adaptive Composition for Gaussian Differential Privacy",
        "arXiv", 2022,
    ),
    "Smith 2009": _other("smith-2009", "Adam Smith", "Differential Privacy and the Secrecy of the Sample", "Oddly Shaped Pegs", 2009),
    "Warner 1965": _journal(
        "warner-1965", "Stanley L. Warner", "Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias",
        "Journal of the American Statistical Association", 1965,
    ),
    "Zhang and Kifer 2017": _meeting(
        "zhang-kifer-2017", "Danfeng Zhang and Daniel Kifer", "LightDP: Towards Automating Differential Privacy Proofs", "POPL", 2017,
    ),
    "Zhu, Dong & Wang 2022": _meeting(
        "zhu-dong-wang-2022", "Yuqing Zhu and Jinshuo Dong and Yu-Xiang Wang",
        "Optimal Accounting of Differential Privacy via Characteristic Function", "AISTATS", 2022,
    ),
    "van Erven & Harremoes 2014": _journal(
        "van-erven-harremoes-2014", "Tim van Erven and Peter Harremo{\\\"e}s", f"{_RENYI} Divergence and Kullback-Leibler Divergence",
        "IEEE Transactions on Information Theory", 2014,
    ),
}  # fmt: skip
_PART: Final = re.compile(r"^(?:[a-z ]+: )?(?P<text>.*?(?:\d{4}\)|\d{4}(?!\))))(?:, (?P<where>.*))?$")


def cited(sources: Iterable[Source]) -> dict[Text, list[str]]:
    """The texts that sources name, each with the places in it."""
    found: dict[Text, list[str]] = {}
    for source in sources:
        for part in source.place.split("; "):
            named = _PART.match(part)
            if named is not None and named["text"] in TEXTS:
                places = found.setdefault(TEXTS[named["text"]], [])
                places += [named["where"]] if named["where"] and named["where"] not in places else []
    return found
