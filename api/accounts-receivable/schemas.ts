import { customerKinds, receivableKinds, receivableStatuses } from '../../config/receivables.ts'
import { Day, Int, Matching, Obj, OneOf, Opt, Words } from '../../config/schema.ts'

export { stamps } from '../financial/schemas.ts'

export const path = '/api/tenants/:tenantId/accounts-receivable'
export const CustomerKind = OneOf([...customerKinds])
export const Kind = OneOf([...receivableKinds])
export const Status = OneOf([...receivableStatuses])
/** Minor units of a document, more than 0. */
export const Sum = Int(1, 10_000_000_000_000)
/** A decimal with up to four places, more than 0. */
export const Quantity = Matching(
  '^(0*[1-9][0-9]{0,10}(\\.[0-9]{1,4})?|0+\\.([1-9][0-9]{0,3}|0[1-9][0-9]{0,2}|00[1-9][0-9]?|000[1-9]))$',
  16,
)
export const Reason = Words(3, 500)
export const exempt = { cardNumber: 'exempt' }
/** Numbers of papers, which may hold the digits of a card, and may not be a card's alone. */
export const cardless = { cardNumber: 'document' }
export const GivenInstallment = Obj({ dueOn: Day, amount: Sum }, { title: 'ReceivableInstallmentInput' })
/** Bills beyond the limit of the customer; for roles that may override it. */
export const CreditOverride = Opt(Obj({ reason: Reason }))
