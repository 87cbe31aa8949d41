import { forbidden } from '../../config/errors.ts'
import { contextOf, sqlOne } from './connection.ts'
import type { Trx } from './connection.ts'

/** Makers of API keys, which never change, as far as a transaction has asked for them. */
const makers = new WeakMap<Trx, Promise<string>>()

const makerOf = async (trx: Trx, keyId: string): Promise<string> => {
  const key = await sqlOne<{ createdBy: string | null }>(trx, `select created_by from api_key where id = ?`, [keyId])
  return key?.createdBy ?? keyId
}

/** The author of a document: the user of the transaction, or the user who made its API key. Throws for the service itself, which writes no documents. */
export const authorOf = async (trx: Trx): Promise<string> => {
  const { actor } = contextOf(trx)
  if (actor.id === null) throw new Error('a document is written by a person')
  if (actor.type !== 'api_key') return actor.id
  const asked = makers.get(trx) ?? makerOf(trx, actor.id)
  makers.set(trx, asked)
  return asked
}

/** Those who wrote on a document of another person, one more with them. */
export const editorsWith = (
  { createdBy, editors }: { createdBy: string | null; editors: readonly string[] },
  person: string,
): string[] => (person === createdBy || editors.includes(person) ? [...editors] : [...editors, person])

/** An approval: the person, and whether they approve a document of their own. */
export type Approval = { approvedBy: string; selfApproved: boolean }

/**
 * The user of the transaction as the approver of a document by these authors. 403 `key_not_allowed` for an API key; 403 `self_approval` for an author,
 * unless the book says `singleOperator`.
 */
export const approverOf = (
  trx: Trx,
  { authors, singleOperator }: { authors: readonly (string | null)[]; singleOperator: boolean },
): Approval => {
  const { actor } = contextOf(trx)
  if (actor.type !== 'user' || actor.id === null)
    throw forbidden('key_not_allowed', 'An API key never approves; a user can')
  const selfApproved = authors.includes(actor.id)
  if (selfApproved && !singleOperator)
    throw forbidden('self_approval', 'The author of a document cannot approve it; another person can')
  return { approvedBy: actor.id, selfApproved }
}
