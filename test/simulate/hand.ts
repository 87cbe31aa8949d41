import { randomUUID } from 'node:crypto'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'

/** Commands of a run by their outcome, and what no reply may be. */
export type Tally = {
  done: Record<string, number>
  refused: Record<string, number>
  wrong: { request: string; status: number; body: unknown }[]
}

export const newTally = (): Tally => ({ done: {}, refused: {}, wrong: [] })

const shapeOf = (path: string) => (path.split('?')[0] ?? '').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ':id')
const count = (counts: Record<string, number>, key: string) => {
  counts[key] = (counts[key] ?? 0) + 1
}

/** Sends requests as people of the house do, and goes on after a refusal, which answers null. */
export const handOf = (tally: Tally) => {
  let last: unknown = null
  const judge = (method: string, path: string, { status, body }: { status: number; body: Parsed }): Parsed => {
    const request = `${method} ${shapeOf(path)}`
    if (status < 300) {
      count(tally.done, request)
      return body
    }
    last = body
    const fields = ((body.errors ?? []) as { field: string }[]).map(({ field }) => field.replaceAll(/\d+/g, 'n'))
    count(tally.refused, `${request} ${body.code} ${[...new Set(fields)].sort().join()}`.trim())
    // Months pass within the hour in which a person may send so many messages.
    const isOverdone = status === 429 && path === 'ocp/messages'
    // Requests here follow from earlier replies, so none is malformed, forbidden or unknown.
    if (status !== 409 && status !== 422 && !isOverdone && tally.wrong.length < 50)
      tally.wrong.push({ request, status, body })
    return null
  }
  const send = async (desk: Desk, method: string, path: string, body: object = {}): Promise<Parsed> =>
    judge(method, path, await desk.send(method, path, body, { idempotencyKey: randomUUID() }))
  const post = (desk: Desk, path: string, body: object = {}) => send(desk, 'POST', path, body)
  const read = async (desk: Desk, path: string): Promise<Parsed> => {
    const body = judge('GET', path, await desk.get(path))
    if (body === null) throw new Error(`GET ${path} is refused: ${JSON.stringify(last)}`)
    return body
  }
  return { send, post, read, judge, last: () => last }
}
export type Hand = ReturnType<typeof handOf>
