import { pixTargetTypes } from '../pix.ts'
import { Amount, Currency, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const charge = {
  entity: 'pix_charge',
  subject: 'PixCharge',
  data: Obj({
    pixChargeId: Uuid,
    txid: Code,
    amount: Nullable(Amount),
    currency: Currency,
    targetType: Nullable(OneOf([...pixTargetTypes])),
    targetId: Nullable(Uuid),
    installmentId: Nullable(Uuid),
  }),
} as const
export const pixChargeActivated = event({ type: 'pix_charge.activated', ...charge })
export const pixChargePaid = event({ type: 'pix_charge.paid', ...charge })
export const pixChargeExpired = event({ type: 'pix_charge.expired', ...charge })
export const pixChargeCancelled = event({ type: 'pix_charge.cancelled', ...charge })
export const pixChargeFailed = event({ type: 'pix_charge.failed', ...charge })

const money = {
  entity: 'pix_receipt',
  subject: 'PixCharge',
  data: Obj({
    endToEndId: Code,
    pixChargeId: Nullable(Uuid),
    cashAccountId: Uuid,
    amount: Amount,
    currency: Currency,
  }),
} as const
export const pixReceived = event({ type: 'pix.received', ...money })
export const pixReturned = event({ type: 'pix.returned', ...money, listeners: ['issues ended'] })
export const pixReturnFailed = event({ type: 'pix.return_failed', ...money, listeners: ['issues'] })
export const pixReturnedByBank = event({ type: 'pix.returned_by_bank', ...money })

const connection = {
  entity: 'pix_connection',
  subject: 'CashAccount',
  data: Obj({ pixConnectionId: Nullable(Uuid), cashAccountId: Uuid }),
} as const
export const pixConnectionChanged = event({ type: 'pix_connection.changed', ...connection })
export const pixConnectionFailed = event({ type: 'pix_connection.failed', ...connection, listeners: ['issues'] })
export const pixConnectionRecovered = event({
  type: 'pix_connection.recovered',
  ...connection,
  listeners: ['issues ended'],
})

export const pixEvents: Event[] = [
  pixChargeActivated,
  pixChargePaid,
  pixChargeExpired,
  pixChargeCancelled,
  pixChargeFailed,
  pixReceived,
  pixReturned,
  pixReturnFailed,
  pixReturnedByBank,
  pixConnectionChanged,
  pixConnectionFailed,
  pixConnectionRecovered,
]
