"""A training that is killed again and again ends where an undisturbed one does."""

from kills import EVERY, kill_and_resume


def test_ten_kills_lose_nothing_but_time():
    outcome = kill_and_resume(10)
    assert outcome.kills >= 10
    assert outcome.equal
    assert outcome.most_updates_lost <= EVERY
