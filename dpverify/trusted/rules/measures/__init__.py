"""Claims in other measures: zCDP, GDP and Renyi divergences, from both sides."""
