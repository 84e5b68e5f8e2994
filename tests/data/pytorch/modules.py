# SPDX-License-Identifier: Apache-2.0
"""The modules of the test models; make_models.py scripts or traces them."""

from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


class AddSub(nn.Module):
    def forward(self, first: Tensor, second: Tensor) -> Tuple[Tensor, Tensor]:
        return first + second, first - second


class Scale(nn.Module):
    """An argument with a default, and one that may be None."""

    def forward(self, x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
        y = x * weight
        if bias is not None:
            y = y + bias
        return y


class Echo(nn.Module):
    """Returns any type unchanged: twice the number, the negated bool."""

    def forward(self, x: Tensor) -> Tensor:
        if x.dtype == torch.bool:
            return torch.logical_not(x)
        return x + x


class Same(nn.Module):
    """The input itself is the output."""

    def forward(self, x: Tensor) -> Tensor:
        return x


class Casts(nn.Module):
    """One output for each type that both PyTorch and the inference protocol have."""

    def forward(self, x: Tensor) -> List[Tensor]:
        return [x.to(torch.bool), x.to(torch.uint8), x.to(torch.int8), x.to(torch.int16),
                x.to(torch.int32), x.to(torch.int64), x.to(torch.float16), x.to(torch.float32),
                x.to(torch.float64), x.to(torch.bfloat16)]


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.last = nn.Linear(4 * 4 * 4, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.first(image)))
        x = torch.max_pool2d(x, 2)
        return torch.softmax(self.last(x.flatten(1)), 1)


class DictionaryIn(nn.Module):
    def forward(self, tensors: Dict[str, Tensor]) -> Dict[str, Tensor]:
        return {"sum": tensors["a"] + tensors["b"], "product": tensors["a"] * tensors["b"]}


class DictionaryOut(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"largest": x.max(1)[0], "place": x.argmax(1), "rest": x[:, 1:]}


class Texts(nn.Module):
    """Texts in, texts and their lengths out."""

    def forward(self, texts: List[str]) -> Tuple[List[str], Tensor]:
        lengths = torch.zeros(len(texts), 1, dtype=torch.int64)
        found: List[str] = []
        for i, text in enumerate(texts):
            found.append("<" + text + ">")
            lengths[i][0] = len(text)
        return found, lengths


class OnlyTexts(nn.Module):
    def forward(self, texts: List[str]) -> List[str]:
        return [text + text for text in texts]


class Collatz(nn.Module):
    """A loop whose length depends on the data, and a branch in it."""

    def forward(self, start: Tensor) -> Tuple[Tensor, Tensor]:
        value = int(start[0].item())
        steps = 0
        seen = [value]
        while value != 1:
            if value % 2 == 0:
                value = value // 2
            else:
                value = 3 * value + 1
            steps += 1
            seen.append(value)
        return torch.tensor([steps]), torch.tensor(seen)


class Recurrent(nn.Module):
    """An LSTM whose state is an input and an output, with the batch first."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        y, (hn, cn) = self.lstm(x, (h.transpose(0, 1).contiguous(), c.transpose(0, 1).contiguous()))
        return y, hn.transpose(0, 1), cn.transpose(0, 1)


class Accumulator(nn.Module):
    """A sum that restarts with START; the controls are outputs as well."""

    def forward(self, value: Tensor, start: Tensor, ready: Tensor, end: Tensor, corrid: Tensor,
                total: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        total = torch.where(start != 0, value, total + value)
        controls = torch.stack([start.flatten().long(), ready.flatten().long(),
                                end.flatten().long(), corrid.flatten().long()], 1)
        return total, controls, total


class Raises(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool((x < 0).any()):
            raise ValueError("there is a number below zero")
        return torch.sqrt(x)


class Views(nn.Module):
    """Outputs that are not contiguous in memory, or that share the input's memory."""

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
        return x.t(), x[:, ::2], x[:, :1].expand(-1, 3), x


class WholeBatch(nn.Module):
    """Cannot batch: the first dimension of the output differs from that of the input."""

    def forward(self, x: Tensor) -> Tensor:
        return x.sum(0)


class Keeps(nn.Module):
    """Returns the input of the previous request: the memory of that input must still be valid."""

    def __init__(self):
        super().__init__()
        self.last = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        before = self.last
        self.last = x
        return before


class InPlace(nn.Module):
    """Writes into its input."""

    def forward(self, x: Tensor) -> Tensor:
        view = x.view(-1)
        view.add_(1.0)
        return x * 2


class Odd(nn.Module):
    """Results that no response can contain; the input selects one."""

    def forward(self, kind: Tensor) -> List[Tensor]:
        which = int(kind[0].item())
        x = torch.arange(6.0)
        if which == 1:
            return [x.to(torch.complex64)]
        if which == 2:
            return [x.to_sparse()]
        if which == 3:
            return [torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)]
        if which == 4:
            return [torch.empty([6], device="meta")]
        if which == 5:
            return []
        if which == 6:
            return [x.to(torch.uint16)]
        if which == 7:  # a view that stands for its negative
            return [torch.conj(torch.complex(x, x)).imag]
        if which == 8:
            return [x.to(torch.float64)]
        if which == 9:
            return [torch._efficientzerotensor([6])]
        if which == 10:
            return [torch.empty([1 << 40]), x]
        if which == 11:
            return [x.to(torch.float8_e4m3fn)]
        if which == 12:
            return [torch.tensor(3.0)]
        return [x]


class Mixed(nn.Module):
    """A tuple with elements that are not tensors."""

    def forward(self, x: Tensor) -> Tuple[Tensor, int, Optional[Tensor], List[Tensor]]:
        return x, 3, None, [x]


class Number(nn.Module):
    def forward(self, x: Tensor) -> int:
        return int(x.sum().item())


class WantsText(nn.Module):
    """An argument that no input can provide."""

    def forward(self, x: Tensor, mode: str) -> Tensor:
        return x if mode == "same" else -x


class WantsNumber(nn.Module):
    """An argument that is not a tensor."""

    def forward(self, x: Tensor, times: int) -> Tensor:
        return x * times


class TensorList(nn.Module):
    """Several tensors as one argument."""

    def forward(self, tensors: List[Tensor]) -> Tensor:
        return tensors[0]


class Variable(nn.Module):
    """The number of results and their types depend on the input."""

    def forward(self, count: Tensor) -> List[Tensor]:
        found: List[Tensor] = []
        for i in range(int(count[0].item())):
            value = torch.full([i + 1], i)
            found.append(value if i % 2 == 0 else value.to(torch.float32) / 2)
        return found


class Sizes(nn.Module):
    """Work for several threads."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.mm(x, x)


class Dense(nn.Module):
    """The model of the benchmark: its computation is very small."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.layer(x))


class Ragged(nn.Module):
    """The model of ragged_batches.py."""

    def forward(self, values: Tensor, count: Tensor, ends: Tensor, bounds: Tensor, widest: Tensor,
                shapes: Tensor, flat: Tensor) -> Dict[str, Tensor]:
        totals = torch.cat([torch.zeros(1), values.cumsum(0)])
        bounds = bounds.long()
        sums = totals[bounds[1:]] - totals[bounds[:-1]]
        return {"doubled": values * 2, "sums": sums.unsqueeze(1),
                "out_count": count.unsqueeze(1), "out_end": ends.unsqueeze(1),
                "out_begin": bounds[:-1].int().unsqueeze(1), "out_shape": shapes * 1,
                "out_flat": flat.unsqueeze(1),
                "out_widest": torch.zeros_like(count).unsqueeze(1) + widest.size(0)}


class NoForward(nn.Module):
    @torch.jit.export
    def other(self, x: Tensor) -> Tensor:
        return x
