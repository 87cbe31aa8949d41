import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import type { ReminderChannel } from '../../../config/dunning.ts'
import { toE164 } from '../../../config/phone-numbers.ts'
import { sendReceivable as sendJob } from '../../../jobs/fiscal.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { model } from '../../lib/models.ts'
import { changeRow, insertRow, readRow } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import { queueMessage } from '../../ocp/index.ts'
import { lockReceivable } from '../state.ts'
import { pixCharges } from './pix.ts'
import { addressesOn, debtorsOf, planOn, recipientOf, writerOf } from './recipients.ts'
import type { Debtor } from './recipients.ts'

export const ReceivableSending = model('receivable_sending')
export type SendingRecord = NonNullable<(typeof ReceivableSending)['row']>

export type Sending = {
  channels: ReminderChannel[]
  to?: string | undefined
  withPix?: boolean | undefined
  message?: string | undefined
}
/** The sealed part of a sending. */
export type SendingWords = { to: string | null; message: string }

const sent = ['issued', 'partly_paid', 'paid', 'credited', 'written_off']
/** So many charges are made for one sending, and it waits so long for them. */
const mostCharges = 12
const pixWaitMs = 120_000

const wordsPlace = (rowId: string) => ({ table: 'receivable_sending', rowId, purpose: 'sending' })
export const openWords = (trx: Trx, { id, sealed }: Pick<SendingRecord, 'id' | 'sealed'>): Promise<SendingWords> =>
  sealed === null
    ? Promise.resolve({ to: null, message: '' })
    : unseal<SendingWords>(trx, 'tenant', wordsPlace(id), sealed)

/** The channel that an address is for. 400 for one that is no address, or of a channel that is not asked for. */
const channelOf = (to: string, channels: readonly ReminderChannel[]): ReminderChannel => {
  const channel = to.includes('@') ? 'email' : 'whatsapp'
  if (channel === 'whatsapp' && toE164(to) !== to)
    throw invalid([{ field: 'to', message: 'is no e-mail address and no telephone number in E.164' }])
  if (!channels.includes(channel)) throw invalid([{ field: 'to', message: `is an address of ${channel}` }])
  return channel
}

/** The address of a sending on each channel: `to` takes the place of the customer's own addresses on its channel. */
const addressesOf = (debtor: Debtor, channels: readonly ReminderChannel[], to: string | null) =>
  channels.map((channel) => ({
    channel,
    addresses:
      to !== null && (to.includes('@') ? 'email' : 'whatsapp') === channel ? [to] : addressesOn(debtor, channel),
  }))

/**
 * Asks that an issued document be sent to its customer; answers the id of the sending. 400 for an address that is none; 409 `invalid_transition`; 422 `recipient_missing`, `pix_not_ready` where nobody makes Pix charges.
 */
export const sendReceivable = async (
  trx: Trx,
  receivableId: string,
  { channels, to, withPix = false, message = '' }: Sending,
  expectedVersion: number | null,
): Promise<string> => {
  const row = await lockReceivable(trx, receivableId, expectedVersion)
  if (!sent.includes(row.status))
    throw conflict('invalid_transition', `A receivable that is ${row.status.replaceAll('_', ' ')} cannot be sent`, [
      { field: 'status', message: 'must be issued' },
    ])
  if (to !== undefined) channelOf(to, channels)
  const [debtor] = await debtorsOf(trx, [row.customerId])
  if (!debtor) throw new Error('the customer of a receivable does not exist')
  const missing = addressesOf(debtor, channels, to ?? null).filter(({ addresses }) => addresses.length === 0)
  if (missing.length > 0)
    throw unprocessable(
      'recipient_missing',
      'The customer has no address for a channel',
      missing.map(({ channel }) => ({ field: 'channels', message: `no address of ${channel}` })),
    )
  if (withPix) {
    const pix = pixCharges()
    if (!pix)
      throw unprocessable('pix_not_ready', 'Nobody makes Pix charges here', [
        { field: 'withPix', message: 'must be false' },
      ])
    await pix.request(trx, receivableId, mostCharges)
  }
  const id = randomUUID()
  const { actor, tenantId } = contextOf(trx)
  const words: SendingWords = { to: to ?? null, message }
  await insertRow(trx, ReceivableSending, {
    id,
    receivableId,
    channels,
    withPix,
    pixUntil: withPix ? new Date(Date.now() + pixWaitMs) : null,
    sealed: await seal(trx, 'tenant', wordsPlace(id), words),
    createdBy: actor.type === 'user' ? actor.id : null,
  })
  await enqueue(trx, sendJob, { tenantId: tenantId ?? '', receivableId, sendingId: id }, { uniqueKey: id })
  return id
}

/** A sending. 404. */
export const readSending = (trx: Trx, id: string): Promise<SendingRecord> => readRow(trx, ReceivableSending, id)

/**
 * Asks for the messages of a sending, once: `wait` while the Pix codes that it waits for are not there and its time is not over. Without them it goes without.
 */
export const handOver = async (trx: Trx, sendingId: string, now = new Date()): Promise<'wait' | 'done'> => {
  const { tenantId } = contextOf(trx)
  const sending = await sqlOne<SendingRecord>(
    trx,
    `select * from receivable_sending where tenant_id = ? and id = ? for no key update`,
    [tenantId, sendingId],
  )
  if (!sending || sending.status !== 'queued') return 'done'
  if (sending.pixUntil !== null && now < sending.pixUntil) {
    const codes = (await pixCharges()?.codes(trx, sending.receivableId)) ?? []
    if (codes.some(({ code, isOver }) => code === null && !isOver)) return 'wait'
  }
  const receivable = await sqlOne<{ status: string; bookId: string; propertyId: string | null; customerId: string }>(
    trx,
    `select status, book_id, property_id, customer_id from receivable where tenant_id = ? and id = ?`,
    [tenantId, sending.receivableId],
  )
  const propertyId = receivable && (receivable.propertyId ?? (await writerOf(trx, receivable.bookId)))
  const [debtor] = receivable ? await debtorsOf(trx, [receivable.customerId]) : []
  const messageIds: string[] = []
  if (receivable && propertyId && debtor && sent.includes(receivable.status)) {
    const { to } = await openWords(trx, sending)
    for (const { channel, addresses } of addressesOf(debtor, sending.channels as ReminderChannel[], to))
      for (const [index, address] of addresses.entries()) {
        const id = await queueMessage(trx, {
          propertyId,
          templateKey: 'receivable-invoice',
          dedupeKey: `receivable-${sendingId}-${channel}-${index}`,
          recipient: recipientOf(debtor, channel, address),
          data: { receivableSendingId: sendingId },
          plan: planOn(channel),
        })
        if (id !== null) messageIds.push(id)
      }
  }
  await changeRow(trx, ReceivableSending, sendingId, {
    messageIds,
    status: messageIds.length > 0 ? 'handed_over' : 'failed',
  })
  return 'done'
}
