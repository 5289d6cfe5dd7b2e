#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the per-layer tables of the convolutional networks, profiles/model/NAME.yaml.

Source: the architecture tables of the papers (He et al. 2015, table 1; Simonyan & Zisserman 2014,
table 1). Where a paper leaves something open (place of the stride in a bottleneck, biases, order of
the parameters) the public training code decides; each table cites it.
Layers stand in forward order; gradients appear in the reverse of it, a layer's bias before its weight.

    generate_cnn.py           write the tables
    generate_cnn.py --check   compare with the files; exit 1 when one differs
"""

import pathlib
import sys

RESNET = "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015 (arXiv 1512.03385), table 1"
RESNEXT = "Xie et al.: Aggregated Residual Transformations for Deep Neural Networks, 2016 (arXiv 1611.05431), table 1"
SE_RESNEXT = "Hu, Shen, Sun: Squeeze-and-Excitation Networks, 2017 (arXiv 1709.01507), table 1, reduction 16, on ResNeXt-101 32x4d (arXiv 1611.05431)"
RESNET_SMALL = "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015 (arXiv 1512.03385), section 4.2: 6n + 2 layers of 16, 32 and 64 channels; projections where they change"
DENSENET = "Huang, Liu, van der Maaten, Weinberger: Densely Connected Convolutional Networks, 2016 (arXiv 1608.06993), table 1"
ARCFACE = "Deng, Guo, Xue, Zafeiriou: ArcFace, 2018 (arXiv 1801.07698), section 3.1: ResNet100 with improved residual units, BN-Dropout-FC-BN"
INSIGHTFACE = "deepinsight/insightface, fresnet.py, LResNet100E-IR: units 3, 13, 30, 3; slopes of PReLU are not counted"
ALEXNET = "Krizhevsky: One weird trick for parallelizing convolutional neural networks, 2014 (arXiv 1404.5997)"
TORCHVISION_DENSENET = "torchvision.models.densenet: parameter order, bottlenecks of four times the growth; what is concatenated is copied"
TORCHVISION_ALEXNET = "torchvision.models.alexnet: parameter order, biases, dropout in the classifier"
WIDE_RESNET = "Zagoruyko, Komodakis: Wide Residual Networks, 2016 (arXiv 1605.07146): the 3x3 convolutions of ResNet-101 twice as wide"
RESNET_CIFAR = "table 1 of He et al. 2015 (arXiv 1512.03385), first convolution and pooling replaced for 32x32 images"
VGG = "Simonyan, Zisserman: Very Deep Convolutional Networks, 2014 (arXiv 1409.1556), table 1"
TORCHVISION_RESNET = "torchvision.models.resnet: parameter order, no convolution bias, bottleneck stride on the 3x3 convolution"
TORCHVISION_VGG = "torchvision.models.vgg: parameter order, biased convolutions, dropout in the classifier"
CHENGYANGFU = "github.com/chengyangfu/pytorch-vgg-cifar10: classifier 512-512-10 and parameter order"
KUANGLIU = "github.com/kuangliu/pytorch-cifar: the CIFAR variant and its parameter order"

KUANGLIU_ORDER = "as github.com/kuangliu/pytorch-cifar orders parameters: projections with a norm"

BASIC, BOTTLENECK = "basic", "bottleneck"
RESNET_BLOCKS = {
    "resnet-18": (BASIC, [2, 2, 2, 2]),
    "resnet-34": (BASIC, [3, 4, 6, 3]),
    "resnet-50": (BOTTLENECK, [3, 4, 6, 3]),
    "resnet-101": (BOTTLENECK, [3, 4, 23, 3]),
    "resnet-152": (BOTTLENECK, [3, 8, 36, 3]),
}
# Width of the 3x3 convolutions relative to ResNet's, their groups, and by how much squeezed channels are fewer.
WIDER_BLOCKS = {
    "wide-resnet-101-2": ("Wide ResNet-101-2", WIDE_RESNET, 2, 1, 0),
    "resnext-101-32x4d": ("ResNeXt-101 32x4d", RESNEXT, 2, 32, 0),
    "se-resnext-101-32x4d": ("SE-ResNeXt-101 32x4d", SE_RESNEXT, 2, 32, 16),
}
# Layers of each dense block, growth and channels of the first convolution.
DENSENET_BLOCKS = {
    "densenet-121": ([6, 12, 24, 16], 32, 64),
    "densenet-169": ([6, 12, 32, 32], 32, 64),
    "densenet-201": ([6, 12, 48, 32], 32, 64),
}
VGG_STAGES = {
    "vgg-11": [(64, 1), (128, 1), (256, 2), (512, 2), (512, 2)],
    "vgg-13": [(64, 2), (128, 2), (256, 2), (512, 2), (512, 2)],
    "vgg-16": [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)],
    "vgg-19": [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)],
}


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


def densenet(blocks, growth, channels):
    """Every layer reads what all before it in its block wrote; a concatenation copies that."""
    net = Network(3, 224)
    net.conv("features.conv0", channels, 7, 2)
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
    net.linear("classifier", 1000)
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


def parameters(layer):
    if layer["op"] == "conv":
        return (layer["in"] // layer["groups"] * layer["kernel"] ** 2 + layer["bias"]) * layer["out"]
    if layer["op"] == "linear":
        return (layer["in"] + layer["bias"]) * layer["out"]
    return 2 * layer["channels"] if layer["op"] == "norm" else 0


def scalar(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def document(name, description, citations, side, layers):
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Written by generate_cnn.py; edit that file, not this one. Keys: README.md.",
        f"model: {name}",
        "family: cnn",
        f'description: "{description}"',
        "citations:",
        f'  architecture: "{citations[0]}"',
        f'  order: "{citations[1]}"',
        f"input: {{channels: 3, height: {side}, width: {side}}}",
        f"parameters: {sum(parameters(layer) for layer in layers)}",
        "layers:",
    ]
    for layer in layers:
        lines.append("- {" + ", ".join(f"{key}: {scalar(value)}" for key, value in layer.items()) + "}")
    return "\n".join(lines) + "\n"


def tables():
    """NAME -> text of every table."""
    result = {}

    def add(name, description, citations, side, layers):
        result[name] = document(name, description, citations, side, layers)

    for name, blocks in RESNET_BLOCKS.items():
        title = name.replace("resnet", "ResNet")
        add(name, f"{title}, ImageNet, 1000 classes", (RESNET, TORCHVISION_RESNET), 224,
            resnet(blocks, 224, 1000, imagenet=True))
    for name, (title, paper, wider, groups, reduction) in WIDER_BLOCKS.items():
        add(name, f"{title}, ImageNet, 1000 classes", (paper, TORCHVISION_RESNET), 224,
            resnet(RESNET_BLOCKS["resnet-101"], 224, 1000, True, wider, groups, reduction))
    for name, classes in (("resnet-18", 10), ("resnet-18", 100), ("resnet-50", 10)):
        title = name.replace("resnet", "ResNet")
        add(f"{name}-cifar{classes}", f"{title}, CIFAR variant, {classes} classes", (RESNET_CIFAR, KUANGLIU), 32,
            resnet(RESNET_BLOCKS[name], 32, classes, imagenet=False))
    for layers in (20, 32, 56, 110):
        add(f"resnet-{layers}-cifar10", f"ResNet-{layers} of three stages, 10 classes", (RESNET_SMALL, KUANGLIU_ORDER),
            32, resnet_small((layers - 2) // 6))
    for name, shape in DENSENET_BLOCKS.items():
        add(name, f"{name.replace('densenet', 'DenseNet')}, ImageNet, 1000 classes",
            (DENSENET, TORCHVISION_DENSENET), 224, densenet(*shape))
    add("iresnet-100", "IResNet-100, embeddings of faces of 112 x 112 pixels, without a classifier", (ARCFACE, INSIGHTFACE),
        112, iresnet((3, 13, 30, 3)))
    add("alexnet", "AlexNet, ImageNet, 1000 classes", (ALEXNET, TORCHVISION_ALEXNET), 224, alexnet())
    for name, stages in VGG_STAGES.items():
        title = name.replace("vgg", "VGG")
        add(name, f"{title}, ImageNet, 1000 classes", (VGG, TORCHVISION_VGG), 224, vgg_imagenet(stages, False))
    add("vgg-16-bn", "VGG-16 with batch normalisation, ImageNet, 1000 classes", (VGG, TORCHVISION_VGG), 224,
        vgg_imagenet(VGG_STAGES["vgg-16"], True))
    add("vgg-16-bn-cifar10", "VGG-16 with batch normalisation, CIFAR variant with one linear layer, 10 classes",
        (VGG, KUANGLIU), 32, vgg_cifar(VGG_STAGES["vgg-16"]))
    add("vgg-19-bn-cifar10", "VGG-19 with batch normalisation, CIFAR variant with three linear layers, 10 classes",
        (VGG, CHENGYANGFU), 32, vgg_cifar_three_linear(VGG_STAGES["vgg-19"]))
    return result


def main():
    folder = pathlib.Path(__file__).resolve().parent
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: generate_cnn.py [--check]")
    differing = []
    for name, text in tables().items():
        path = folder / f"{name}.yaml"
        if not check:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            differing.append(path.name)
    if differing:
        sys.exit("not what generate_cnn.py writes: " + ", ".join(differing))


if __name__ == "__main__":
    main()
