import pytest
from telling_texts import telling_texts


@pytest.fixture(scope="session")
def examples():
    return telling_texts()
