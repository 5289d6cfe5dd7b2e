#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the per-layer tables of the convolutional networks, profiles/model/NAME.yaml.

Source: the architecture tables of the papers (He et al. 2015, table 1; Simonyan & Zisserman 2014,
table 1). Where a paper leaves something open (place of the stride in a bottleneck, biases, order of
the parameters) the public training code decides; each table cites it.
cnn_layers.py has the layers of each family.

    generate_cnn.py           write the tables
    generate_cnn.py --check   compare with the files; exit 1 when one differs
"""

import pathlib
import sys

from cnn_layers import (BASIC, BOTTLENECK, alexnet, densenet, iresnet, resnet, resnet_small, se_resnet_cifar,
                        vgg_cifar, vgg_cifar_three_linear, vgg_imagenet)

RESNET = "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015 (arXiv 1512.03385), table 1"
RESNEXT = "Xie et al.: Aggregated Residual Transformations for Deep Neural Networks, 2016 (arXiv 1611.05431), table 1"
SE_RESNEXT = "Hu, Shen, Sun: Squeeze-and-Excitation Networks, 2017 (arXiv 1709.01507), table 1, reduction 16, on ResNeXt-101 32x4d (arXiv 1611.05431)"
RESNET_SMALL = "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015 (arXiv 1512.03385), section 4.2: 6n + 2 layers of 16, 32 and 64 channels; projections where they change"
DENSENET = "Huang, Liu, van der Maaten, Weinberger: Densely Connected Convolutional Networks, 2016 (arXiv 1608.06993), table 1"
ARCFACE = "Deng, Guo, Xue, Zafeiriou: ArcFace, 2018 (arXiv 1801.07698), section 3.1: ResNet100 with improved residual units, BN-Dropout-FC-BN"
INSIGHTFACE = "deepinsight/insightface, fresnet.py, LResNet100E-IR: units 3, 13, 30, 3; slopes of PReLU are not counted"
DENSENET_CIFAR = "Huang, Liu, van der Maaten, Weinberger: Densely Connected Convolutional Networks, 2016 (arXiv 1608.06993), section 4.2: growth 12, bottlenecks and compression of one half"
ACCORDION_DENSENET = "uw-mad-dash/Accordion at 82046df, cifar100/cifar_architecture/densenet.py: blocks of DenseNet-121, first convolution of 24 channels"
SE_RESNET = "Hu, Shen, Sun: Squeeze-and-Excitation Networks, 2017 (arXiv 1709.01507), reduction 16, on ResNet-18 (arXiv 1512.03385)"
ACCORDION_SENET = "uw-mad-dash/Accordion at 82046df, senet_new.py and senet.py: convolutions with biases, 516 channels in the last stage"
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
    add("densenet-cifar100", "DenseNet of growth 12 in four blocks, CIFAR, 100 classes", (DENSENET_CIFAR, ACCORDION_DENSENET),
        32, densenet([6, 12, 24, 16], 12, 24, 32, 100))
    for classes in (10, 100):
        add(f"se-resnet-18-cifar{classes}", f"SE-ResNet-18 whose last stage has 516 channels, CIFAR, {classes} classes",
            (SE_RESNET, ACCORDION_SENET), 32, se_resnet_cifar((2, 2, 2, 2), (64, 128, 256, 516), classes))
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
