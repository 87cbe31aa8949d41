import type { AuthorityCall } from '../../../db/guests/index.ts'
import { signedCall } from '../../lib/signed-call.ts'
import type { AuthorityAdapter } from './authority.ts'

const mostBytes = 256 * 1024

const fieldsOf = (body: unknown) => (typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {})

const paths: Record<AuthorityCall['kind'], string> = {
  registration: '/registrations',
  check_in: '/check-ins',
  check_out: '/check-outs',
  cancellation: '/cancellations',
}

const bodyOf = ({ kind, requestId, externalId, form, signature, stay }: AuthorityCall) => ({
  requestId,
  ...(externalId === null ? {} : { registrationId: externalId }),
  ...(kind === 'registration' ? { form, signature, stay } : { stay }),
})

/** Adapter for the open contract of docs/integrators/registration.md. */
export const open: AuthorityAdapter = {
  report: async (call, signal) => {
    const { url, secret, kind, requestId } = call
    const outcome = await signedCall(
      { url: `${url}${paths[kind]}`, secret, method: 'POST', body: bodyOf(call), key: requestId, mostBytes },
      signal,
      (body) => {
        const { status, registrationId, reason } = fieldsOf(body)
        if (status === 'accepted') {
          const externalId = typeof registrationId === 'string' ? registrationId.slice(0, 100) : null
          return { answer: { accepted: true as const, externalId } }
        }
        if (status !== 'rejected') return null
        return {
          answer: {
            accepted: false as const,
            reason: (typeof reason === 'string' ? reason : 'rejected').slice(0, 500),
          },
        }
      },
    )
    // What it refuses to read is refused, and no repetition changes that; another secret may.
    if (outcome.kind === 'refused' && outcome.httpStatus !== undefined && ![401, 403, 404].includes(outcome.httpStatus))
      return { kind: 'known', httpStatus: outcome.httpStatus, answer: { accepted: false, reason: outcome.code } }
    return outcome
  },
}
