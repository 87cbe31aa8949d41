import { nilId } from '../../config/nil-id.ts'
import { beginReport, formsToInvite, inviteGuest, linkOf, recordAnswer } from '../../db/guests/index.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import * as jobs from '../../jobs/guests.ts'
import { externalCall } from '../lib/external-call.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { open } from './authorities/open.ts'

const defaultWaitMinutes = 30
const minuteMs = 60_000

/** Registration forms: what authorities and guests are told of them. */
export const registrations: readonly Processor[] = [
  processor(jobs.reportRegistration, async (context) => {
    const { registrationReportId: id } = context.payload
    const call = await context.effect((trx) => beginReport(trx, id))
    if (call === null) return context.finish()
    const name = { provider: 'authority', operation: call.kind, key: call.requestId }
    const { outcome } = await externalCall(context, name, () => open.report(call, context.signal))
    if (outcome.kind === 'known') return context.finish((trx) => recordAnswer(trx, id, outcome.answer))
    // The report keeps its requestId, so that the authority knows a repetition.
    return context.retryLater(
      `the authority gave no answer: ${outcome.code}`,
      outcome.afterMs === undefined ? {} : { afterMs: outcome.afterMs },
    )
  }),

  onDatabase(jobs.sendRegistrationLink, async (trx, { guestRegistrationId, channel }, { skip }) => {
    const link = await linkOf(trx, guestRegistrationId)
    if (link === null) return skip('no_link')
    const { validFrom, endsAt, ...about } = link
    await queueMessage(trx, {
      ...about,
      templateKey: 'registration-link',
      dedupeKey: `registration-${guestRegistrationId}-${validFrom.getTime()}`,
      data: { guestRegistrationId, linkFrom: validFrom.toISOString(), linkUntil: endsAt.toISOString() },
      ...(channel === undefined ? {} : { plan: [{ channel, waitMinutes: defaultWaitMinutes }] }),
      validMinutes: Math.max(1, Math.floor((endsAt.getTime() - Date.now()) / minuteMs)),
    })
  }),

  processor(jobs.inviteGuests, async ({ effect, inTenant, finish, log, signal }) => {
    for (let after: string | undefined = nilId; after !== undefined && !signal.aborted;) {
      const from: string = after
      const due = await effect((trx) => formsToInvite(trx, from))
      for (const { tenantId, id } of due)
        await inTenant(tenantId, (trx) => inviteGuest(trx, id)).catch((error: unknown) =>
          log.warn({ err: error, tenantId, guestRegistrationId: id }, 'a guest could not be invited'),
        )
      after = due.at(-1)?.id
    }
    await finish()
  }),
]
