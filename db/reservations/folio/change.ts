import { unprocessable } from '../../../config/errors.ts'
import { folioChanged } from '../../../config/events/folios.ts'
import { nameFirms, resolveGuests } from '../../guests/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { model } from '../../lib/models.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import type { FolioRow } from '../../rows.ts'
import { refuseTwoPayers } from './create.ts'
import { holdDayOfFolio, lockFolio } from './lock.ts'
import { factOf } from './open.ts'

export const Folio = model<'folio'>('folio')

export type FolioChange = {
  [Field in 'payerGuestId' | 'payerCompanyId' | 'label' | 'creditLimit' | 'locked']?: FolioRow[Field] | undefined
}

/** Changes the payer of a folio, its label, its credit limit, or whether it takes charges. A closed one changes its label alone. */
export const changeFolio = async (
  trx: Trx,
  id: string,
  change: FolioChange,
  expected: number | null,
): Promise<void> => {
  const { payerGuestId, payerCompanyId } = change
  refuseTwoPayers(change)
  if (payerGuestId) await holdDayOfFolio(trx, id)
  const payers = await resolveGuests(trx, payerGuestId ? [payerGuestId] : [], 'payerGuestId')
  await nameFirms(trx, [{ field: 'payerCompanyId', id: payerCompanyId }])
  const { folio } = await lockFolio(trx, id, expected)
  const late = fieldsOf(change).filter((field) => field !== 'label')
  if (folio.status === 'closed' && late.length > 0)
    throw unprocessable(
      'folio_closed',
      'A closed folio changes its label alone; reopen it first',
      late.map((field) => ({ field, message: 'does not change any more' })),
    )
  // One payer takes the place of the other.
  const sent = {
    ...change,
    ...(payerGuestId ? { payerGuestId: payers.get(payerGuestId) ?? payerGuestId, payerCompanyId: null } : {}),
    ...(payerCompanyId ? { payerGuestId: null } : {}),
  }
  if (fieldsOf(sent).length === 0) return
  await changeRow(trx, Folio, id, sent)
  const now = await sqlOne<FolioRow>(trx, `select * from folio where id = ?`, [id])
  if (now) await emit(trx, folioChanged, { ...factOf(now), changed: sentFields(sent, folio) })
}
