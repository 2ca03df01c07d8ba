"""Makes the modules beside this file (helpers, reference) importable from every folder of tests."""
