import type { IssuePriority } from '../../../config/issues.ts'
import { createIssue, proposeCompensation, registerItem, resolveIssue, startIssue } from '../../issues/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { sol } from '../ids.ts'
import { roomOfRef } from './book.ts'

const { propertyId } = sol
const asked = { role: 'receptionist' }

const open = async (
  trx: Trx,
  code: string,
  given: { title: string; description?: string; priority: IssuePriority; ref?: string },
): Promise<string> => {
  const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = ?`, [code])
  const { ref, ...rest } = given
  const reservationId = ref === undefined ? undefined : (await roomOfRef(trx, ref)).id
  return createIssue(trx, { ...rest, propertyId, categoryId: category?.id ?? '', reservationId })
}

/** Issues of the day in each state with a compensation that waits for approval, and lost property on both sides. */
export const meetIssues = async (trx: Trx): Promise<void> => {
  await open(trx, 'equipment', { title: 'The shower of a room leaks', priority: 'high' })
  const cold = await open(trx, 'comfort', {
    title: 'The room was cold at night',
    description: 'The air conditioning does not heat',
    priority: 'normal',
    ref: 'SOL-203',
  })
  await startIssue(trx, cold, asked)
  await proposeCompensation(
    trx,
    cold,
    { kind: 'adjustment', amount: 5_000, description: 'Cortesia', reason: 'A night without heating' },
    asked,
  )
  const noise = await open(trx, 'noise', { title: 'Music at the bar after 23:00', priority: 'normal', ref: 'SOL-105' })
  await resolveIssue(trx, noise, { resolution: 'The bar closes its terrace at 22:00', cause: 'property' }, asked)
  await registerItem(trx, {
    propertyId,
    direction: 'found',
    category: 'electronics',
    description: 'A phone charger, white',
    place: 'Breakfast room',
    storedAt: 'Drawer 2 of the reception',
  })
  await registerItem(trx, {
    propertyId,
    direction: 'missed',
    category: 'clothing',
    description: 'A blue scarf',
    reservationId: (await roomOfRef(trx, 'SOL-101')).id,
  })
}
