"""The numbers of a probe as rows of a data frame."""

from made_up_probe_comparison import DEEP, SHALLOW, build_comparison


def test_every_estimate_is_a_row_of_the_frame():
    frame = build_comparison().to_frame()
    final = frame[(frame.metric == "pearson") & (frame.subset == "final")]
    assert list(final.target) == [DEEP, SHALLOW]
    assert list(final.value) == [0.796875, 0.78125]
    # 30 and 18 layers, three numbers each; a cell of the map for each two.
    counts = frame.groupby("metric").size()
    assert counts["layer_pearson"] == counts["layer_pearson_lost"] == 48
    assert counts["cka"] == 540
    assert set(frame.capability) == {"probe"}
    unseen = frame[(frame.metric == "pearson_unseen") & (frame.target == DEEP)]
    assert list(unseen.subset) == ["raw", "mlp", "siamese", "autoencoder", "final"]
    assert list(unseen.value)[-1] == 0.796875 - 4 / 256
    assert set(unseen.n) == {520}


def test_gains_are_compared_with_the_step_before():
    gains = [one for one in build_comparison().rows() if one.metric == "pearson_gain"]
    assert [(one.against, one.subset) for one in gains[:2]] == [("raw", "mlp"), ("mlp", "siamese")]
    assert len(gains) == 8
