// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"

// Every field of everything that an experiment consists of, in one order, for whoever stores and
// restores it (web/text_archive). `each_field(x, f)` calls f with all fields of x at once. A
// field that is added to a struct and not here does not compile: the bindings name all of them.

namespace payoff::web {

#define PAYOFF_FIELDS(Type, ...)        \
  template <typename Use>               \
  void each_field(Type& x, Use&& use) { \
    auto& [__VA_ARGS__] = x;            \
    use(__VA_ARGS__);                   \
  }

// NOLINTBEGIN(cppcoreguidelines-missing-std-forward): called once, in place
template <typename T, typename Use>
void each_field(PerPrecision<T>& x, Use&& use) {
  use(x.values);
}
template <typename Amount, typename Use>
void each_field(FitRange<Amount>& x, Use&& use) {
  use(x.smallest, x.largest);
}

PAYOFF_FIELDS(KernelAmounts, products, convolutions, attention, streams)
PAYOFF_FIELDS(ComputeLaw, gemm_efficiency, convolution_efficiency, attention_efficiency, depth_half,
              memory_efficiency, launch, measured, relative_sd)
PAYOFF_FIELDS(PairLaw, share, spread, measured, beside)
PAYOFF_FIELDS(PairLaws, compute_beside_codec, codec_beside_compute, compute_beside_message,
              codec_beside_message)
PAYOFF_FIELDS(CopyLaw, start, rate, measured)
PAYOFF_FIELDS(Gpu, name, architecture, compute_units, memory, memory_bandwidth, l2, peak, law,
              power, card, peer_to_peer, pairs, copies)
PAYOFF_FIELDS(FitDomain, smallest, largest, ranks)
PAYOFF_FIELDS(LinkLaw, launch, step_ll, step_ll128, step_simple, step_nvls, share_ll, share_ll128,
              share_simple, share_nvls, rendezvous, switched_hosts, channel, node_limit,
              relative_sd_node_limit, ramp, chunk, congestion_per_doubling, domain,
              relative_sd_small, relative_sd_middle, relative_sd_large, relative_sd_family,
              relative_sd_more_ranks)
PAYOFF_FIELDS(Fabric, name, twin, kind, generation, per_gpu, pair, max_gpus, nvls, spans_nodes,
              crosses_sockets, parts, law)
PAYOFF_FIELDS(Network, name, twin, kind, gpudirect, sums, tuner_latency, node_limit, eager, gathers,
              law)
PAYOFF_FIELDS(Host, cores, copy)
PAYOFF_FIELDS(Cluster, name, gpu, fabric, network, gpus_per_node, nics_per_node, nic, cpu, host,
              nodes, price, kinds)
PAYOFF_FIELDS(Software, name, fused_attention, fused_elementwise, fp8_weights, bucket_copy_passes,
              copies_each_tensor, optimizer_in_backward, recomputes_products, gather_bucket,
              scatter_bucket, hides_launch, host_per_kernel, host_per_step, memory_traffic_ratio,
              relative_sd)
PAYOFF_FIELDS(ParallelLayout, dp, tp, pp, cp, context_exchange, ep, etp, expert_imbalance,
              expert_capacity, order, schedule, stage_layers, virtual_stages, pair_overlap, zero,
              shard, reshard, tp_overlap, dp_collective, sequence_parallel, micro_batch,
              micro_batches, recompute)
PAYOFF_FIELDS(DataLoading, time, prefetch)
PAYOFF_FIELDS(HostJitter, law, mean)
PAYOFF_FIELDS(Checkpointing, every, storage, asynchronous, host_copy, size)
PAYOFF_FIELDS(Training, precision, gradient, bucket, first_bucket, overlap, codec_speed,
              optimizer_bytes_per_parameter, optimizer_traffic_per_parameter, memory_margin, data,
              host_jitter, checkpoint)

PAYOFF_FIELDS(ExpertShape, count, per_token, width, shared_width, dense_blocks, shared_gate)
PAYOFF_FIELDS(LatentAttention, query_rank, key_rank, rotated, value_size)
PAYOFF_FIELDS(DecoderShape, layers, sequence)
PAYOFF_FIELDS(TransformerShape, name, family, layers, hidden, heads, kv_heads, head_size,
              feed_forward, vocabulary, positions, token_types, sequence, gated, biases,
              query_biases, output_norms, head_norms, norm_shift, embedding_norm, tied_embeddings,
              causal, pooler, masked_head, head_positions, image_patch, image_channels, classes,
              experts, latent, relative_buckets, decoder)

PAYOFF_FIELDS(Operator, kind, rows_per_sample, columns, depth, batch_per_sample, causal_fraction,
              window, unit_stride, bytes_per_sample, bytes_fixed, backward_bytes_per_sample,
              backward_bytes_fixed, kernels, fused_kernels, input_gradient, in_16_bits, casts)
PAYOFF_FIELDS(ParameterTensor, rows, columns, is_matrix, of_expert, is_copy)
PAYOFF_FIELDS(TensorParallelSync, before, after, bytes_per_sample, forward, backward, of_encoder)
PAYOFF_FIELDS(ContextParts, ranks, exchange)
PAYOFF_FIELDS(ContextSync, attention, parts, query_per_sample, key_value_per_sample)
PAYOFF_FIELDS(ExpertSync, before, after, bytes_per_sample, tensor_bytes_per_sample, gathers,
              tokens_per_sample, copies_per_sample)
PAYOFF_FIELDS(MeasuredLayer, forward, backward)
PAYOFF_FIELDS(HeldTables, weights, state)
PAYOFF_FIELDS(TableExchange, sent_per_sample, received_per_sample)
PAYOFF_FIELDS(Layer, name, forward, parameters, syncs, contexts, experts, measured,
              activation_per_sample, selective_activation_per_sample, boundary_per_sample,
              passed_per_sample, source_per_sample, recomputable, tables, exchange)
PAYOFF_FIELDS(EmbeddingTables, rows, dimension, lookups, optimizer)
PAYOFF_FIELDS(RecommenderShape, name, dense, bottom, tables, top)
PAYOFF_FIELDS(Workload, name, layers, tokens_per_sample, width, sample_name, recommender)
PAYOFF_FIELDS(LayerTime, layer, micro_batch, tp, cp, ep, etp, forward, backward)

PAYOFF_FIELDS(CodecLaw, dispatch, host_sync, resident_efficiency, memory_efficiency,
              random_efficiency, gemm_efficiency, streams, relative_sd, product_rate, gathers,
              products)
PAYOFF_FIELDS(HostCodec, call, core, irregular, threads, relative_sd)
PAYOFF_FIELDS(PassFormula, bytes, random_bytes, flops, kernels, host_syncs, host_seconds,
              block_bytes, on_host, copied)
PAYOFF_FIELDS(RoundFormula, encode, collective, message, among)
PAYOFF_FIELDS(WireFormula, as_published, as_implemented)
PAYOFF_FIELDS(OtherFormulas, rounds, decode)
PAYOFF_FIELDS(ExchangeGraph, shape, degree, seed, own, file)
PAYOFF_FIELDS(Method, name, description, implementation, granularity, matrices_only,
              sums_in_collective, elementwise, scatters, reduces_from, graph, among_nodes, smallest,
              in_network, bypasses_buckets, after_backward, parameters, where, rounds, decode,
              dense, worth, fits, state_bytes, saved_bytes, sent, backward, learned, wire, law,
              kernels, host)
PAYOFF_FIELDS(BlockRange, first, last)
PAYOFF_FIELDS(ActivationCompression, method, traffic, forward, backward, blocks)
PAYOFF_FIELDS(WeightCompression, method, copy_in_node)
PAYOFF_FIELDS(BucketSet, ranges)
PAYOFF_FIELDS(BucketCompression, method, buckets)
PAYOFF_FIELDS(CompressionPlan, label, method, activations, weights, placement, overlap, buckets,
              others)
PAYOFF_FIELDS(Experiment, name, cluster, software, model, layout, training, plans, layer_times)
PAYOFF_FIELDS(Expression::Instruction, operation, variable, constant)
PAYOFF_FIELDS(RemedyLimits, global_batch, change_gradient_precision, change_buckets,
              change_algorithm)
// NOLINTEND(cppcoreguidelines-missing-std-forward)

}  // namespace payoff::web
