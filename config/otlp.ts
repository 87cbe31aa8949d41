import { DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, diag, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { log } from './log.ts'
import { release } from './release.ts'
import type { Tracer } from './tracing.ts'

const kinds = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
} as const

const contextOf = (traceparent: string | null) => {
  if (traceparent === null) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true })
}

const hex = (flags: number) => flags.toString(16).padStart(2, '0')

/** Spans of OpenTelemetry, sent over OTLP/HTTP in batches. Sampling and headers follow the standard variables (OTEL_TRACES_SAMPLER …). */
export const makeTracer = (service: string, endpoint: string): Tracer => {
  const tell = (message: string) => log.warn({ detail: message.slice(0, 300) }, 'spans could not be sent')
  const mute = () => {}
  diag.setLogger({ error: tell, warn: tell, info: mute, debug: mute, verbose: mute }, DiagLogLevel.WARN)
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces`, timeoutMillis: 5_000 })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': release }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000 })],
  })
  const tracer = provider.getTracer('pousada')
  return {
    begin: (kind, name, parent, attributes) => {
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, contextOf(parent))
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceparent: `00-${traceId}-${spanId}-${hex(traceFlags)}`,
        note: (more, called) => {
          span.setAttributes(more)
          if (called !== undefined) span.updateName(called)
        },
        end: (failure) => {
          // The kind of the error alone: its message can hold a value of a row.
          if (failure !== undefined)
            span.setStatus({ code: SpanStatusCode.ERROR, message: failure instanceof Error ? failure.name : 'failed' })
          span.end()
        },
      }
    },
    stop: () => provider.shutdown(),
  }
}
