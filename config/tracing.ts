import { randomBytes } from 'node:crypto'
import { settings } from './env.ts'

export type SpanKind = 'server' | 'producer' | 'internal' | 'consumer' | 'client'
export type Attributes = Record<string, string | number | boolean>

export type Span = {
  /** W3C `traceparent` header that names this span as the parent of later steps. */
  readonly traceparent: string
  readonly note: (attributes: Attributes, name?: string) => void
  readonly end: (failure?: unknown) => void
}

export type Tracer = {
  begin: (kind: SpanKind, name: string, parent: string | null, attributes: Attributes) => Span
  /** Sends what it still has. */
  stop: () => Promise<void>
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** A `traceparent` header as version 00 of W3C Trace Context, which newer versions begin with. Null: malformed, and to be ignored. */
export const parseTraceparent = (header: string): string | null => {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = form.exec(header.trim()) ?? []
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return `00-${traceId}-${spanId}-${flags}`
}

// Drawn for many at once, since the drawing costs more than all else that a trace needs.
let pool = ''
const randomHex = (digits: number) => {
  if (pool.length < digits) pool = randomBytes(4_096).toString('hex')
  const drawn = pool.slice(0, digits)
  pool = pool.slice(digits)
  return drawn
}

/** The start of a trace of which no spans are kept: its id still joins the lines of a request and of its jobs. */
const fresh = () => `00-${randomHex(32)}-${randomHex(16)}-00`

export const traceIdOf = (traceparent: string | null): string | null => traceparent?.slice(3, 35) ?? null

const quiet: Tracer = {
  begin: (_kind, _name, parent) => ({ traceparent: parent ?? fresh(), note: () => {}, end: () => {} }),
  stop: () => Promise.resolve(),
}

let tracer = quiet

/** Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT from now on. Where that is not set, nothing of OpenTelemetry is even read. */
export const startTracing = async (service: string): Promise<void> => {
  if (settings.otlpEndpoint === null) return
  const { makeTracer } = await import('./otlp.ts')
  tracer = makeTracer(service, settings.otlpEndpoint)
}

const patienceMs = 2_000

/** Sends what is left, for at most two seconds: a collector that does not answer holds no process up. */
export const stopTracing = async (): Promise<void> => {
  const stopping = tracer
  tracer = quiet
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patienceMs)
  })
  await Promise.race([stopping.stop().catch(() => {}), late])
  clearTimeout(timer)
}

/** A step of a trace, from now until `end`. One that is never ended is never told of. Its `traceparent` is there with and without a collector. */
export const beginSpan = (kind: SpanKind, name: string, parent: string | null, attributes: Attributes = {}): Span =>
  tracer.begin(kind, name, parent, attributes)
