import type { CodeOf } from '../../config/error-codes.ts'
import { conflict, unprocessable } from '../../config/errors.ts'
import { settingsOf } from '../../config/property-settings.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageRow } from '../rows.ts'
import { checkStep, lockReader } from './checks.ts'
import type { StepCause, Ways } from './checks.ts'
import { readContents } from './compose.ts'
import type { PlanStep } from './rules/plan.ts'
import { readReader } from './reader.ts'
import { propertyOf } from './sending.ts'
import { strangersBooking } from './strangers.ts'

const refusals: Partial<Record<StepCause, [code: CodeOf<422>, message: string]>> = {
  no_channel: ['no_channel', 'No channel of the plan is on and ready'],
  no_content: ['no_channel', 'There is no content for a channel of the plan'],
  recipient_missing: ['recipient_missing', 'The recipient has no address for a channel of the plan'],
  recipient_suppressed: ['recipient_suppressed', 'The address must not be written to'],
  consent_missing: ['recipient_suppressed', 'The guest has not agreed to marketing, or no longer does'],
  country_not_allowed: ['country_not_allowed', 'The channel does not write to numbers of this country'],
  window_closed: ['window_closed', 'The guest last wrote more than 24 hours ago; use a template with approved content'],
}

/**
 * Refuses at once a message that no channel could carry as things stand: 422. The same is checked again when it is sent. Of one that is sent again, also what may
 * pass by itself counts, such as a limit: 409.
 */
export const refuseUnreachable = async (trx: Trx, messageId: string, isRepeated = false): Promise<void> => {
  const message = await sqlOne<MessageRow & { now: Date }>(
    trx,
    `select m.*, clock_timestamp() as now from message m where m.id = ?`,
    [messageId],
  )
  const property = message && (await propertyOf(trx, message.propertyId))
  if (!message || !property) throw new Error(`message ${messageId} is gone`)
  const [reader, { contents }] = [await readReader(trx, message), await readContents(trx, message)]
  let first: StepCause | null = reader ? null : 'recipient_missing'
  const plan = message.plan as PlanStep[]
  const ways: Ways = reader ? await lockReader(trx, message.propertyId, reader, plan) : new Map()
  const booking = await strangersBooking(trx, message)
  for (const { channel } of reader ? plan : []) {
    const checked = await checkStep(trx, channel, {
      ways,
      booking,
      message,
      reader: reader!,
      contents,
      locales: property.locales,
      timeZone: property.timezone,
      rules: settingsOf(property.settings).messages,
      now: message.now,
    })
    if (!('cause' in checked) || (!isRepeated && !refusals[checked.cause])) return
    if (first === null || first === 'no_channel') first = checked.cause
  }
  if (first !== null && !refusals[first])
    throw conflict('invalid_transition', 'The cause for which the message was not sent still holds', [
      { field: 'reason', message: first },
    ])
  const [code, text] = refusals[first ?? 'no_channel'] ?? ['no_channel', 'No channel can be used']
  throw unprocessable(code, text, [{ field: 'plan', message: first ?? 'no_channel' }])
}
