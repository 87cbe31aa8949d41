import type { HeardPix } from '../../db/cash/index.ts'
import { ask } from '../gateways/http.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import type { Bank, BankCharge, BankReturn, BankSent, Calling } from './bank.ts'
import { startSandboxBank } from './sandbox-server.ts'

const timeoutMs = 10_000

const call = async <S>(
  { line, signal }: Calling,
  method: 'GET' | 'POST',
  path: string,
  understand: (body: unknown) => S | null,
  body?: unknown,
): Promise<Outcome<S>> => {
  const { url } = await startSandboxBank()
  const { clientId, clientSecret } = line.credentials
  return ask(
    {
      url: `${url}${path}`,
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
        // One account of the sandbox for each connection: two houses with one name do not meet.
        'x-account': line.connectionId,
      },
      ...(body === undefined ? {} : { body }),
      timeoutMs,
      signal,
    },
    (answer) => {
      const snapshot = understand(answer)
      return snapshot === null ? null : { snapshot }
    },
  )
}

type Json = Record<string, unknown>
const record = (body: unknown): Json | null => (typeof body === 'object' && body !== null ? (body as Json) : null)

/** Turns the sandbox's 404 into an answer of null. */
const orNull =
  <S>(understand: (body: unknown) => S | null) =>
  (body: unknown): { found: S | null } | null =>
    record(body)?.['missing'] === true ? { found: null } : ((found) => found && { found })(understand(body))
const found = <S>(outcome: Outcome<{ found: S | null }>): Outcome<S | null> =>
  outcome.kind === 'known' ? { ...outcome, snapshot: outcome.snapshot.found } : outcome

const chargeIn = (body: unknown): BankCharge | null => {
  const given = record(body)
  const status = given?.['status']
  return given &&
    typeof given['location'] === 'string' &&
    (status === 'active' || status === 'paid' || status === 'closed')
    ? { status, location: given['location'], endToEndIds: given['endToEndIds'] as string[] }
    : null
}
const pixIn = (body: unknown): HeardPix | null => {
  const given = record(body)
  return given && typeof given['endToEndId'] === 'string'
    ? ({ ...given, at: new Date(String(given['at'])) } as unknown as HeardPix)
    : null
}
const sentIn = (body: unknown): BankSent | null =>
  ['done', 'failed', 'pending'].includes(String(record(body)?.['status'])) ? (body as BankSent) : null
const returnIn = (body: unknown): BankReturn | null =>
  ['done', 'failed', 'pending'].includes(String(record(body)?.['status'])) ? (body as BankReturn) : null

/** The adapter of the sandbox bank: it speaks HTTP with a peer, as with any other. */
export const sandboxBank: Bank = {
  register: (calling) =>
    call(calling, 'POST', '/hook', (body) => (record(body) ? true : null), { url: calling.line.hookUrl }),
  createCharge: (calling, { charge, key, payer }) =>
    call(calling, 'POST', `/charges/${charge.txid}`, chargeIn, {
      kind: charge.kind,
      amount: charge.amount,
      key,
      payer,
      text: charge.text,
      expiresAt: charge.expiresAt,
      dueOn: charge.dueOn,
    }),
  readCharge: async (calling, { txid }) => found(await call(calling, 'GET', `/charges/${txid}`, orNull(chargeIn))),
  cancelCharge: async (calling, { txid }) =>
    found(await call(calling, 'POST', `/charges/${txid}/cancel`, orNull(chargeIn), {})),
  readPix: async (calling, endToEndId) => found(await call(calling, 'GET', `/pix/${endToEndId}`, orNull(pixIn))),
  listPix: (calling, from, to, page) =>
    call(
      calling,
      'GET',
      `/pix?from=${encodeURIComponent(from.toISOString())}&to=${encodeURIComponent(to.toISOString())}&page=${page}`,
      (body) => {
        const given = record(body)
        return given && Array.isArray(given['pix'])
          ? { pix: (given['pix'] as unknown[]).flatMap((one) => pixIn(one) ?? []), more: given['more'] === true }
          : null
      },
    ),
  returnPix: (calling, { endToEndId, code, amount }) =>
    call(calling, 'POST', `/pix/${endToEndId}/returns/${code}`, returnIn, { amount }),
  readReturn: (calling, { endToEndId, code }) => call(calling, 'GET', `/pix/${endToEndId}/returns/${code}`, returnIn),
  send: (calling, { key, amount, payee, toKey, text }) =>
    call(calling, 'POST', `/sent/${key}`, sentIn, { amount, payee, toKey, text }),
  readSent: (calling, key) => call(calling, 'GET', `/sent/${key}`, sentIn),
}
