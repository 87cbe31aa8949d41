import {
  pixChargeActivated,
  pixChargeCancelled,
  pixChargeExpired,
  pixChargeFailed,
} from '../../../config/events/pix.ts'
import { notFound, versionConflict } from '../../../config/errors.ts'
import type { PixChargeStatus } from '../../../config/pix.ts'
import { cancelPixChargeJob } from '../../../jobs/cash.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow, findRow } from '../../lib/records.ts'
import { unseal } from '../../lib/sealing/index.ts'
import { PixCharge } from '../models.ts'
import type { ChargeRecord } from '../models.ts'
import { brCodeOf } from '../../../config/br-code.ts'
import { chargePayer, tellCharge } from './charges.ts'
import type { Payer, PixDiscount } from './charges.ts'
import { connectionOf, gateOfPix, pixLine } from './connection.ts'
import type { PixLine } from './connection.ts'

const moves = lifecycle<PixChargeStatus>('A charge')({
  cancelling: { from: ['active', 'creating'], to: 'cancelling' },
})

/** A charge; 404. */
export const chargeById = async (trx: Trx, id: string): Promise<ChargeRecord> => {
  const row = await findRow(trx, PixCharge, id)
  if (!row) throw notFound('No such charge')
  return row
}

/** A charge that is to change, locked. 404, 409 `version_conflict`. */
export const lockCharge = async (trx: Trx, id: string, expected: number | null = null): Promise<ChargeRecord> => {
  await sql(trx, `select id from pix_charge where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])
  const charge = await chargeById(trx, id)
  if (expected !== null && charge.version !== expected) throw versionConflict(charge.version)
  return charge
}

/**
 * Withdraws a charge: a static one at once, any other once the bank has said so, since it may be paid meanwhile. Repeated it changes nothing. 409
 * `invalid_transition`.
 */
export const cancelCharge = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const charge = await lockCharge(trx, id, expected)
  if (charge.status === 'cancelled') return
  if (!moves.isDue('cancelling', charge.status)) return
  const isStatic = charge.kind === 'static'
  await changeRow(trx, PixCharge, id, { status: isStatic ? 'cancelled' : 'cancelling' })
  if (isStatic) return void (await tellCharge(trx, pixChargeCancelled, await chargeById(trx, id)))
  const connection = await connectionOf(trx, charge.cashAccountId)
  await enqueue(
    trx,
    cancelPixChargeJob,
    { tenantId: contextOf(trx).tenantId ?? '', pixChargeId: id },
    { uniqueKey: id, class: 'urgent', ...(connection ? { gate: gateOfPix(connection) } : {}) },
  )
}

/** The facts that a worker needs to ask the bank about a charge. */
export type ChargeCall = {
  line: PixLine
  charge: ChargeRecord
  payer: Payer | null
  key: string
  discounts: PixDiscount[]
}

/** A charge in one of these states with the connection of its account; null where there is nothing to ask. */
export const chargeCall = async (
  trx: Trx,
  id: string,
  statuses: readonly PixChargeStatus[],
): Promise<ChargeCall | null> => {
  const charge = await findRow(trx, PixCharge, id)
  if (!charge || !statuses.includes(charge.status)) return null
  const line = await pixLine(trx, charge.cashAccountId)
  if (!line) return null
  const [key] = await sql<{ value: string }>(trx, `select value from pix_key where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    charge.pixKeyId,
  ])
  return {
    line,
    charge,
    key: key?.value ?? line.keys[0] ?? '',
    payer: charge.payer ? await unseal<Payer>(trx, 'tenant', chargePayer(id), charge.payer) : null,
    discounts: charge.discounts,
  }
}

/** The bank has made a charge: its code can be paid. An answer that comes twice, or after a cancellation, changes nothing but the code. */
export const activateCharge = async (trx: Trx, id: string, location: string): Promise<void> => {
  const charge = await lockCharge(trx, id)
  if (charge.brCode !== null || charge.status === 'paid' || charge.status === 'expired') return
  const { amount, merchantName: name, merchantCity: city, txid } = charge
  const brCode = brCodeOf({ pix: { location }, amount, name, city, txid })
  await changeRow(trx, PixCharge, id, {
    brCode,
    location,
    ...(charge.status === 'creating' ? { status: 'active' as const } : {}),
  })
  if (charge.status === 'creating') await tellCharge(trx, pixChargeActivated, await chargeById(trx, id))
}

/** The bank has refused to make a charge. */
export const failCharge = async (trx: Trx, id: string, failure: { code: string; message: string }): Promise<void> => {
  const charge = await lockCharge(trx, id)
  if (charge.status !== 'creating') return
  await changeRow(trx, PixCharge, id, { status: 'failed', failure })
  await tellCharge(trx, pixChargeFailed, await chargeById(trx, id))
}

/** The bank has closed a charge that nobody has paid: cancelled where that was asked for, else its time was over. */
export const endCharge = async (trx: Trx, id: string): Promise<void> => {
  const charge = await lockCharge(trx, id)
  const status = charge.status === 'cancelling' ? 'cancelled' : 'expired'
  if (!['active', 'creating', 'cancelling'].includes(charge.status)) return
  // A charge that the bank does not know yet has no code: it ends as one that was never made.
  if (status === 'expired' && charge.brCode === null) {
    await changeRow(trx, PixCharge, id, {
      status: 'failed',
      failure: { code: 'never_made', message: 'The bank never made it' },
    })
    return void (await tellCharge(trx, pixChargeFailed, await chargeById(trx, id)))
  }
  await changeRow(trx, PixCharge, id, { status })
  await tellCharge(trx, status === 'cancelled' ? pixChargeCancelled : pixChargeExpired, await chargeById(trx, id))
}
