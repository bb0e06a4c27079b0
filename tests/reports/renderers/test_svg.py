from reports.renderers.svg import names_beside


def test_names_stand_beside_their_dots_where_they_hide_no_dot_and_no_other_name():
    drawn = [
        str(one) for one in names_beside([(50, 50, "<a>"), (62, 50, "b"), (97, 9, "ccc")], 100)
    ]
    # The second dot lies where the first name would begin; the third has room at its left alone.
    assert drawn == [
        '<text x="42.0" y="54.0" text-anchor="end">&lt;a&gt;</text>',
        '<text x="70.0" y="54.0" text-anchor="start">b</text>',
        '<text x="89.0" y="13.0" text-anchor="end">ccc</text>',
    ]


def test_a_name_without_room_is_left_out():
    crowd = [(50, 50, "a" * 10), *((x, y, "") for x in range(0, 101, 9) for y in range(20, 81, 9))]
    assert [*names_beside(crowd, 100)] == []
