"""What every test may rely on: no deadlines on a shared machine, the same examples in every run."""

import hypothesis

hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")
