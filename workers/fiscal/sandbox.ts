import { cancelWindowHours } from '../../config/fiscal.ts'
import type { AuthorityWord, FiscalCall } from '../../db/accounts-receivable/index.ts'
import { ask } from '../gateways/http.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import type { FiscalAuthority } from './authority.ts'
import { startAuthority } from './sandbox-server.ts'

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Reads a reply; null where it makes no sense. */
const wordOf = (body: unknown): { snapshot: AuthorityWord; reference?: string } | null => {
  if (typeof body !== 'object' || body === null) return null
  const given = body as Record<string, unknown>
  const [number, at] = [text(given['number']), text(given['authorisedAt'])]
  switch (given['state']) {
    case 'processing':
      return { snapshot: { state: 'processing', afterMs: Number(given['retryAfterMs'] ?? 60_000) } }
    case 'cancelled':
      return { snapshot: { state: 'cancelled' } }
    case 'authorised':
      return number === null || at === null || Number.isNaN(Date.parse(at))
        ? null
        : {
            reference: number,
            snapshot: {
              state: 'authorised',
              authorityNumber: number,
              verificationCode: text(given['verificationCode']),
              accessKey: text(given['accessKey']),
              authorisedAt: new Date(at),
              documentUrl: text(given['url']),
              xml: text(given['xml']),
            },
          }
    default:
      return null
  }
}

const patienceMs = 20_000
const rpsOf = ({ rps }: FiscalCall) => `${rps.series}-${rps.number}`

const call = async (
  method: 'GET' | 'POST',
  path: string,
  { bookId, credentials, key }: FiscalCall,
  { body, signal }: { body?: unknown; signal: AbortSignal },
): Promise<Outcome<AuthorityWord>> => {
  const { url, secret } = await startAuthority()
  return ask(
    {
      url: `${url}${path}`,
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        'x-account': bookId,
        'idempotency-key': key,
        ...(credentials === null ? {} : { 'x-credentials': credentials }),
      },
      ...(body === undefined ? {} : { body }),
      timeoutMs: patienceMs,
      signal,
    },
    wordOf,
  )
}

/** The adapter of the sandbox authority. */
export const sandbox: FiscalAuthority = {
  cancelWindowHours: cancelWindowHours.sandbox,
  send: (asked, signal) => {
    const { snapshot } = asked
    const body = { rps: rpsOf(asked), email: snapshot.taker.email, total: snapshot.amounts.total, document: snapshot }
    return call('POST', '/nfse', asked, { body, signal })
  },
  read: async (asked, signal) => {
    const outcome = await call('GET', `/nfse/${rpsOf(asked)}`, asked, { signal })
    return outcome.kind === 'refused' && outcome.httpStatus === 404
      ? { kind: 'known', snapshot: { state: 'not_found' }, httpStatus: 404 }
      : outcome
  },
  cancel: (asked, signal) =>
    call('POST', `/nfse/${rpsOf(asked)}/cancel`, asked, { body: { reason: asked.reason }, signal }),
}
