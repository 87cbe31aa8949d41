import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceivedSpan = {
  service: string
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  attributes: Record<string, unknown>
  failed: boolean
}

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean }
type Attribute = { key: string; value: Value }
type Body = {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: {
      spans: {
        traceId: string
        spanId: string
        parentSpanId?: string
        name: string
        kind: number
        attributes: Attribute[]
        status?: { code?: number }
      }[]
    }[]
  }[]
}

const plain = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))

/** A collector of spans on loopback: OTLP over HTTP, as JSON. `hang` makes it take requests and never answer. */
export const startOtlpPeer = async ({ hang = false } = {}) => {
  const spans: ReceivedSpan[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      if (hang) return
      const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString()) as Body
      for (const { resource, scopeSpans } of resourceSpans)
        for (const each of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({
            service: String(plain(resource.attributes)['service.name']),
            traceId: each.traceId,
            spanId: each.spanId,
            parentSpanId: each.parentSpanId ?? '',
            name: each.name,
            kind: each.kind,
            attributes: plain(each.attributes),
            failed: each.status?.code === 2,
          })
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
