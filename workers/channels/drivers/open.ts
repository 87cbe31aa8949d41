import type { ChannelAccount } from '../../../db/channels/index.ts'
import { signedCall } from '../../lib/signed-call.ts'
import type { Answer, SignedRequest } from '../../lib/signed-call.ts'
import type { Driver } from '../driver.ts'

const mostBytes = 8 * 1024 * 1024
/** More than a page, and less than would keep a worker from everybody else. */
const mostRevisions = 1_000
const mostRejections = 1_000

type Sent = Pick<SignedRequest, 'method' | 'body' | 'key'> & { path: string }

const call = <T>(
  account: ChannelAccount,
  { path, ...sent }: Sent,
  signal: AbortSignal,
  read: (body: unknown) => T | null,
): Promise<Answer<T>> =>
  signedCall(
    {
      ...sent,
      url: `${account.endpointUrl}${path}`,
      secret: account.secret,
      headers: { 'x-pousada-property': account.externalPropertyId },
      mostBytes,
    },
    signal,
    read,
  )

const fieldsOf = (body: unknown) => (typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {})

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** Driver for the open contract of docs/integrators/channels.md. */
export const open: Driver = {
  test: (account, signal) => call(account, { method: 'GET', path: '/ping' }, signal, () => ({})),

  push: (account, { pushId, kind, ranges }, signal) =>
    call(
      account,
      {
        method: 'POST',
        path: '/ari',
        key: pushId,
        body: { propertyId: account.externalPropertyId, kind, ranges },
      },
      signal,
      (body) => {
        const { accepted, rejected } = fieldsOf(body)
        if (accepted === undefined && rejected === undefined) return null
        const list = Array.isArray(rejected) ? rejected.slice(0, mostRejections) : []
        return {
          rejected: list.map((one) => {
            const { index, message } = fieldsOf(one)
            return { index: Number(index), message: textOf(message).slice(0, 200) || 'rejected' }
          }),
        }
      },
    ),

  pull: (account, { after, limit }, signal) =>
    call(
      account,
      { method: 'GET', path: `/bookings?after=${encodeURIComponent(after ?? '')}&limit=${limit}` },
      signal,
      (body) => {
        const { revisions, cursor } = fieldsOf(body)
        if (!Array.isArray(revisions) || revisions.length > mostRevisions) return null
        const next = textOf(cursor).slice(0, 500) || after
        return {
          cursor: next,
          revisions: revisions.map((one) => {
            const { id, ...revision } = fieldsOf(one)
            return { id: textOf(id).slice(0, 200) || 'unnamed', revision }
          }),
        }
      },
    ),

  acknowledge: (account, ids, signal) =>
    call(account, { method: 'POST', path: '/bookings/acknowledge', body: { ids } }, signal, () => ({})),
}
