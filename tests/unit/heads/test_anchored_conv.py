"""Mirror of src/anchored/heads/anchored_conv.py: pixel by pixel it is the anchored head."""

import torch
import torch.nn.functional as F

from anchored.heads import AnchoredConv, AnchoredHead


def test_every_pixel_gets_the_logits_of_the_head():
    maps = torch.randn(2, 6, 3, 4, generator=torch.Generator().manual_seed(0))
    found = AnchoredConv(6, 5, scale=3.0)(maps)
    head = AnchoredHead(6, 5, scale=3.0)
    assert found.shape == (2, 5, 3, 4)
    for row in range(3):
        for column in range(4):
            torch.testing.assert_close(found[:, :, row, column], head(maps[:, :, row, column]))


def test_without_normalisation_it_is_a_convolution():
    maps = torch.randn(2, 6, 3, 4, generator=torch.Generator().manual_seed(0))
    conv = AnchoredConv(6, 5, normalize=False)
    torch.testing.assert_close(conv(maps), F.conv2d(maps, conv.prototypes[:, :, None, None]))


def test_takes_a_single_map_as_a_convolution_does():
    maps = torch.randn(6, 3, 4, generator=torch.Generator().manual_seed(0))
    conv = AnchoredConv(6, 5)
    torch.testing.assert_close(conv(maps), conv(maps[None])[0])


def test_its_state_is_that_of_the_head():
    AnchoredHead(6, 5).load_state_dict(AnchoredConv(6, 5).state_dict())
