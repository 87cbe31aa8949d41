import { forbidden } from '../../config/errors.ts'
import { contextOf, sqlOne } from './connection.ts'
import type { Trx } from './connection.ts'

/** The author of a document: the user of the transaction, or the user who made its API key. Throws for the service itself, which writes no documents. */
export const authorOf = async (trx: Trx): Promise<string> => {
  const { actor } = contextOf(trx)
  if (actor.id === null) throw new Error('a document is written by a person')
  if (actor.type !== 'api_key') return actor.id
  const key = await sqlOne<{ createdBy: string | null }>(trx, `select created_by from api_key where id = ?`, [actor.id])
  return key?.createdBy ?? actor.id
}

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
