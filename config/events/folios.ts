import { Currency, List, Nullable, Obj, OneOf, SignedAmount, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const folio = {
  entity: 'folio',
  subject: 'Folio',
  data: Obj({
    folioId: Uuid,
    number: Code,
    kind: OneOf(['guest', 'company', 'group', 'house']),
    reservationId: Nullable(Uuid),
    groupId: Nullable(Uuid),
    balance: SignedAmount,
    currency: Currency,
  }),
} as const
export const folioOpened = event({ type: 'folio.opened', ...folio })
export const folioClosed = event({ type: 'folio.closed', ...folio })
export const folioReopened = event({ type: 'folio.reopened', ...folio })
export const folioInvoiced = event({
  type: 'folio.invoiced',
  ...folio,
  data: Obj({ ...folio.data.properties, receivableId: Uuid }),
})
export const folioChanged = event({ type: 'folio.changed', ...folio })

const folioMoney = {
  entity: 'folio',
  subject: 'Folio',
  data: Obj({
    folioId: Uuid,
    number: Code,
    lineIds: List(Uuid, { max: 100 }),
    category: Nullable(Code),
    amount: SignedAmount,
    balance: SignedAmount,
    currency: Currency,
  }),
} as const
export const folioChargePosted = event({ type: 'folio.charge_posted', ...folioMoney })
export const folioAdjusted = event({ type: 'folio.adjusted', ...folioMoney })
export const folioTransferred = event({ type: 'folio.transferred', ...folioMoney })
export const folioBalanceChanged = event({ type: 'folio.balance_changed', ...folioMoney })

export const foliosEvents: Event[] = [
  folioOpened,
  folioClosed,
  folioReopened,
  folioInvoiced,
  folioChanged,
  folioChargePosted,
  folioAdjusted,
  folioTransferred,
  folioBalanceChanged,
]
