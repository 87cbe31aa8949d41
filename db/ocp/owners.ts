import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Value } from './rules/template.ts'

/** The end of a message that has left, or never will. */
export type EndOfMessage = 'sent' | 'failed' | 'suppressed' | 'expired' | 'cancelled'
export type OwnedMessage = { id: string; data: Readonly<Record<string, string>> }

/** A higher module that asks for messages of its own templates, and knows what they are about. */
export type MessageOwner = {
  templateKey: string
  /** The field of `data` by which its messages are told. */
  field: string
  /** Why a message is not to leave any more, or null. Asked in the transaction that lets it leave. */
  refusal: (trx: Trx, message: OwnedMessage) => Promise<string | null>
  /** Values of variables, as the records stand at this moment. */
  values: (trx: Trx, message: OwnedMessage, locale: string) => Promise<Readonly<Record<string, Value>>>
  /** Hears of the end, in its transaction, in which the message is held. */
  ended: (trx: Trx, message: OwnedMessage, status: EndOfMessage, cause: string | null) => Promise<void>
}

const owners: MessageOwner[] = []

/** Lets a higher module speak for its messages. */
export const registerMessageOwner = (owner: MessageOwner): void => {
  owners.push(owner)
}

const asRecord = (data: unknown): Readonly<Record<string, string>> =>
  typeof data === 'object' && data !== null ? (data as Record<string, string>) : {}

/** The owner of a message with its data; null where none has asked for it. */
export const ownerOf = (message: {
  id: string
  data: unknown
}): { owner: MessageOwner; owned: OwnedMessage } | null => {
  const data = asRecord(message.data)
  const owner = owners.find(({ field }) => data[field] !== undefined)
  return owner ? { owner, owned: { id: message.id, data } } : null
}

const ends: ReadonlySet<string> = new Set(['sent', 'failed', 'suppressed', 'expired', 'cancelled'])

/** Tells the owner of a message that it has ended. */
export const tellOwner = async (
  trx: Trx,
  id: string,
  { status, templateKey, cause }: { status: string; templateKey: string | null; cause: string | null },
): Promise<void> => {
  if (!ends.has(status) || !owners.some((owner) => owner.templateKey === templateKey)) return
  const row = await sqlOne<{ data: unknown }>(trx, `select data from message where id = ?`, [id])
  const found = row && ownerOf({ id, data: row.data })
  if (found) await found.owner.ended(trx, found.owned, status as EndOfMessage, cause)
}
