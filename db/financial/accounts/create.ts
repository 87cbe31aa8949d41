import { randomUUID } from 'node:crypto'
import { sideOf } from '../../../config/financial.ts'
import type { AccountClass, Control, Side } from '../../../config/financial.ts'
import { invalid } from '../../../config/errors.ts'
import { accountCreated } from '../../../config/events/financial.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { insertRow } from '../../lib/records.ts'
import { bookFor } from '../chart.ts'
import { Account } from '../models.ts'
import { deepest } from '../rules/chart-import.ts'
import { holdTree, parentOf } from './read.ts'
import type { CashFlow } from './read.ts'

export type NewAccount = {
  bookId?: string
  code: string
  name: string
  parentId?: string
  parentCode?: string
  class?: AccountClass
  postable?: boolean
  side?: Side
  control?: Control | null
  section?: string | null
  cashFlow?: CashFlow | null
  usaliCode?: string
  referentialCode?: string
}

/** Adds an account below a group, or a root by its class. 409 `duplicate_code`, 422 `reference_not_found`, `account_not_usable`. */
export const createAccount = async (
  trx: Trx,
  { bookId, parentId, parentCode, postable = true, ...account }: NewAccount,
): Promise<string> => {
  const id = randomUUID()
  const book = await bookFor(trx, bookId)
  const ways = [parentId, parentCode, account.class].filter((one) => one !== undefined)
  if (ways.length !== 1)
    throw invalid([{ field: 'parentId', message: 'exactly one of parentId, parentCode and class is given' }])
  if (!postable && account.control) throw invalid([{ field: 'control', message: 'belongs to postable accounts' }])
  await holdTree(trx, book.id)
  const parent = account.class === undefined ? await parentOf(trx, book.id, { parentId, parentCode }) : null
  if (parent && parent.level >= deepest)
    throw invalid([{ field: 'parentId', message: `would make more than ${deepest} levels` }])
  const accountClass = parent?.class ?? account.class ?? 'asset'
  await insertRow(trx, Account, {
    id,
    bookId: book.id,
    currency: book.currency,
    code: account.code,
    name: account.name,
    class: accountClass,
    side: account.side ?? sideOf(accountClass),
    parentId: parent?.id ?? null,
    postable,
    control: account.control ?? null,
    section: account.section === undefined ? (parent?.section ?? null) : account.section,
    cashFlow: account.cashFlow === undefined ? (parent?.cashFlow ?? null) : account.cashFlow,
    usaliCode: account.usaliCode,
    referentialCode: account.referentialCode,
  })
  await emit(trx, accountCreated, {
    propertyId: null,
    id,
    version: 1,
    data: { accountId: id, bookId: book.id, code: account.code },
  })
  return id
}
