# SPDX-License-Identifier: Apache-2.0
"""The layers of convolutional networks, family by family, for generate_cnn.py.

Layers stand in forward order; gradients appear in the reverse of it, a layer's bias before its weight.
"""

BASIC, BOTTLENECK = "basic", "bottleneck"


class Network:
    """A layer list under construction, with the shape of the tensor that flows through it."""

    def __init__(self, channels, side):
        self.channels, self.side, self.layers = channels, side, []

    def conv(self, name, out, kernel, stride=1, bias=False, groups=1):
        self.side = (self.side + stride - 1) // stride  # every padding used here is "same"
        self.layers.append({
            "name": name, "op": "conv", "in": self.channels, "out": out, "kernel": kernel,
            "stride": stride, "groups": groups, "out_height": self.side, "out_width": self.side, "bias": bias})
        self.channels = out

    def pool(self, name, kernel, stride, out_side):
        self.side = out_side
        self.layers.append({
            "name": name, "op": "pool", "channels": self.channels, "kernel": kernel, "stride": stride,
            "out_height": self.side, "out_width": self.side})

    def pointwise(self, name, op):
        self.layers.append({
            "name": name, "op": op, "channels": self.channels, "height": self.side, "width": self.side})

    def linear(self, name, out):
        features = self.channels * self.side * self.side
        self.layers.append({"name": name, "op": "linear", "in": features, "out": out, "bias": True})
        self.channels, self.side = out, 1


def squeeze_and_excite(net, prefix, reduction):
    """A weight for each channel, from the mean of all of them."""
    channels, side = net.channels, net.side
    net.pool(f"{prefix}.squeeze", side, side, 1)
    net.conv(f"{prefix}.squeeze1", channels // reduction, 1, bias=True)
    net.pointwise(f"{prefix}.squeeze1.relu", "elementwise")
    net.conv(f"{prefix}.squeeze2", channels, 1, bias=True)
    net.pointwise(f"{prefix}.squeeze2.sigmoid", "elementwise")
    net.side = side
    net.pointwise(f"{prefix}.excite", "elementwise")


def residual_block(net, prefix, kind, width, stride, shortcut, wider=1, groups=1, reduction=0):
    """One block; `shortcut` names the convolution and the norm of a projection shortcut."""
    expansion = 4 if kind == BOTTLENECK else 1
    kernels = [(1, 1), (3, stride), (1, 1)] if kind == BOTTLENECK else [(3, stride), (3, 1)]
    entry = (net.channels, net.side)
    for number, (kernel, step) in enumerate(kernels, start=1):
        last = number == len(kernels)
        net.conv(f"{prefix}.conv{number}", width * expansion if last else width * wider, kernel, step,
                 groups=groups if kind == BOTTLENECK and number == 2 else 1)
        net.pointwise(f"{prefix}.bn{number}", "norm")
        if not last:
            net.pointwise(f"{prefix}.relu{number}", "elementwise")
    if reduction:
        squeeze_and_excite(net, prefix, reduction)
    leaving = (net.channels, net.side)
    if entry != leaving:
        net.channels, net.side = entry
        net.conv(f"{prefix}.{shortcut}.0", leaving[0], 1, stride)
        net.pointwise(f"{prefix}.{shortcut}.1", "norm")
    net.pointwise(f"{prefix}.add", "add")
    net.pointwise(f"{prefix}.relu{len(kernels)}", "elementwise")


def resnet(blocks, side, classes, imagenet, wider=1, groups=1, reduction=0):
    kind, counts = blocks
    net = Network(3, side)
    net.conv("conv1", 64, *((7, 2) if imagenet else (3, 1)))
    net.pointwise("bn1", "norm")
    net.pointwise("relu", "elementwise")
    if imagenet:
        net.pool("maxpool", 3, 2, net.side // 2)
    for stage, count in enumerate(counts, start=1):
        for block in range(count):
            stride = 2 if stage > 1 and block == 0 else 1
            residual_block(net, f"layer{stage}.{block}", kind, 64 << (stage - 1), stride,
                           "downsample" if imagenet else "shortcut", wider, groups, reduction)
    net.pool("avgpool", net.side, net.side, 1)
    net.linear("fc" if imagenet else "linear", classes)
    return net.layers


def resnet_small(blocks):
    """For images of 32 x 32: `blocks` basic blocks in each of three stages."""
    net = Network(3, 32)
    net.conv("conv1", 16, 3)
    net.pointwise("bn1", "norm")
    net.pointwise("relu", "elementwise")
    for stage in range(3):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            residual_block(net, f"layer{stage + 1}.{block}", BASIC, 16 << stage, stride, "shortcut")
    net.pool("avgpool", net.side, net.side, 1)
    net.linear("linear", 10)
    return net.layers


def se_resnet_cifar(counts, widths, classes):
    """Basic blocks with squeeze and excitation, for images of 32 x 32; every convolution has a bias."""
    net = Network(3, 32)
    net.conv("conv1", widths[0], 3, bias=True)
    net.pointwise("bn1", "norm")
    net.pointwise("relu", "elementwise")
    for stage, (count, width) in enumerate(zip(counts, widths), start=1):
        for block in range(count):
            prefix = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            entry = (net.channels, net.side)
            for number, step in ((1, stride), (2, 1)):
                net.conv(f"{prefix}.conv{number}", width, 3, step, bias=True)
                net.pointwise(f"{prefix}.bn{number}", "norm")
                net.pointwise(f"{prefix}.relu{number}", "elementwise")
            if entry != (net.channels, net.side):
                net.channels, net.side = entry
                net.conv(f"{prefix}.shortcut.0", width, 1, stride, bias=True)
                net.pointwise(f"{prefix}.shortcut.1", "norm")
            squeeze_and_excite(net, prefix, 16)
            net.pointwise(f"{prefix}.add", "add")
            net.pointwise(f"{prefix}.relu3", "elementwise")
    net.pool("avgpool", net.side, net.side, 1)
    net.linear("linear", classes)
    return net.layers


def densenet(blocks, growth, channels, side=224, classes=1000):
    """Every layer reads what all before it in its block wrote; a concatenation copies that.

    Images of 32 x 32 meet a small first convolution without a norm or pooling.
    """
    small = side == 32
    net = Network(3, side)
    net.conv("features.conv0", channels, *((3, 1) if small else (7, 2)))
    if not small:
        net.pointwise("features.norm0", "norm")
        net.pointwise("features.relu0", "elementwise")
        net.pool("features.pool0", 3, 2, net.side // 2)
    for number, layers in enumerate(blocks, start=1):
        for layer in range(1, layers + 1):
            prefix = f"features.denseblock{number}.denselayer{layer}"
            entry = net.channels
            for part, out, kernel in ((1, 4 * growth, 1), (2, growth, 3)):
                net.pointwise(f"{prefix}.norm{part}", "norm")
                net.pointwise(f"{prefix}.relu{part}", "elementwise")
                net.conv(f"{prefix}.conv{part}", out, kernel)
            net.channels = entry + growth
            net.pointwise(f"{prefix}.cat", "elementwise")
        if number < len(blocks):
            prefix = f"features.transition{number}"
            net.pointwise(f"{prefix}.norm", "norm")
            net.pointwise(f"{prefix}.relu", "elementwise")
            net.conv(f"{prefix}.conv", net.channels // 2, 1)
            net.pool(f"{prefix}.pool", 2, 2, net.side // 2)
    net.pointwise("features.norm5", "norm")
    net.pointwise("features.relu5", "elementwise")
    net.pool("avgpool", net.side, net.side, 1)
    net.linear("classifier", classes)
    return net.layers


def iresnet(units):
    """ResNet for faces, 112 x 112: the norm stands before the first convolution of a block, the stride in the second."""
    net = Network(3, 112)
    net.conv("conv0", 64, 3)
    net.pointwise("bn0", "norm")
    net.pointwise("relu0", "elementwise")
    for stage, (count, width) in enumerate(zip(units, (64, 128, 256, 512)), start=1):
        for unit in range(1, count + 1):
            prefix = f"stage{stage}.unit{unit}"
            stride = 2 if unit == 1 else 1
            entry = (net.channels, net.side)
            net.pointwise(f"{prefix}.bn1", "norm")
            net.conv(f"{prefix}.conv1", width, 3)
            net.pointwise(f"{prefix}.bn2", "norm")
            net.pointwise(f"{prefix}.relu1", "elementwise")
            net.conv(f"{prefix}.conv2", width, 3, stride)
            net.pointwise(f"{prefix}.bn3", "norm")
            if unit == 1:
                net.channels, net.side = entry
                net.conv(f"{prefix}.shortcut.0", width, 1, stride)
                net.pointwise(f"{prefix}.shortcut.1", "norm")
            net.pointwise(f"{prefix}.add", "add")
    net.pointwise("bn1", "norm")
    net.pointwise("dropout", "elementwise")
    net.linear("fc1", 512)
    net.pointwise("fc1.bn", "norm")
    return net.layers


def alexnet():
    net = Network(3, 224)
    index = 0
    for out, kernel, stride, side, pooled in ((64, 11, 4, 55, 27), (192, 5, 1, 27, 13), (384, 3, 1, 13, 0),
                                              (256, 3, 1, 13, 0), (256, 3, 1, 13, 6)):
        net.conv(f"features.{index}", out, kernel, stride, bias=True)
        net.side = net.layers[-1]["out_height"] = net.layers[-1]["out_width"] = side  # padding of 2, not of 5
        net.pointwise(f"features.{index + 1}", "elementwise")
        index += 2
        if pooled:
            net.pool(f"features.{index}", 3, 2, pooled)
            index += 1
    net.pool("avgpool", 1, 1, net.side)  # adaptive, 6x6 to 6x6
    for index in (0, 3):
        net.pointwise(f"classifier.{index}", "elementwise")  # dropout
        net.linear(f"classifier.{index + 1}", 4096)
        net.pointwise(f"classifier.{index + 2}", "elementwise")  # ReLU
    net.linear("classifier.6", 1000)
    return net.layers


def vgg_features(net, stages, batch_norm):
    """The convolutions; the code this follows numbers every module. Returns the next number."""
    index = 0
    for width, count in stages:
        for _ in range(count):
            net.conv(f"features.{index}", width, 3, bias=True)
            if batch_norm:
                net.pointwise(f"features.{index + 1}", "norm")
            index += 2 if batch_norm else 1
            net.pointwise(f"features.{index}", "elementwise")
            index += 1
        net.pool(f"features.{index}", 2, 2, net.side // 2)
        index += 1
    return index


def vgg_imagenet(stages, batch_norm):
    net = Network(3, 224)
    vgg_features(net, stages, batch_norm)
    net.pool("avgpool", 1, 1, net.side)  # adaptive, 7x7 to 7x7
    for index in (0, 3):
        net.linear(f"classifier.{index}", 4096)
        net.pointwise(f"classifier.{index + 1}", "elementwise")  # ReLU
        net.pointwise(f"classifier.{index + 2}", "elementwise")  # dropout
    net.linear("classifier.6", 1000)
    return net.layers


def vgg_cifar(stages):
    net = Network(3, 32)
    index = vgg_features(net, stages, batch_norm=True)
    net.pool(f"features.{index}", 1, 1, 1)
    net.linear("classifier", 10)
    return net.layers


def vgg_cifar_three_linear(stages):
    net = Network(3, 32)
    vgg_features(net, stages, batch_norm=True)
    for index in (0, 3):
        net.pointwise(f"classifier.{index}", "elementwise")  # dropout
        net.linear(f"classifier.{index + 1}", 512)
        net.pointwise(f"classifier.{index + 2}", "elementwise")  # ReLU
    net.linear("classifier.6", 10)
    return net.layers
