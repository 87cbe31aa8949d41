import { Amount, AnyOf, Bool, Int, List, Literal, Obj, OneOf } from './schema.ts'
import type { Static } from './schema.ts'

/** `value` is minor units, basis points or a number of nights, by `type`; none and full ignore it. */
export const Fee = Obj(
  {
    type: OneOf(['none', 'amount', 'percent', 'nights', 'full']),
    value: Amount,
    of: OneOf(['room', 'total']),
  },
  { title: 'Fee' },
)
export type Fee = Static<typeof Fee>

export const CancellationRules = Obj(
  {
    /** The fee up to so many hours before arrival; hours strictly falling. */
    tiers: List(Obj({ hoursBeforeArrival: Int(0, 17_520), fee: Fee }), { max: 6 }),
    after: Fee,
    graceHoursAfterBooking: Int(0, 336),
    earlyDeparture: Fee,
  },
  { title: 'CancellationRules' },
)
export type CancellationRules = Static<typeof CancellationRules>

export const DepositRules = Obj(
  {
    installments: List(
      Obj({
        due: AnyOf([Literal('booking'), Obj({ daysBeforeArrival: Int(0, 365) })]),
        type: OneOf(['percent', 'amount', 'nights', 'remaining']),
        value: Amount,
      }),
      { min: 1, max: 6 },
    ),
    graceHours: Int(1, 168),
    ifUnpaid: OneOf(['warn', 'cancel']),
  },
  { title: 'DepositRules' },
)
export type DepositRules = Static<typeof DepositRules>

export const NoShowRules = Obj({ fee: Fee, releaseRemaining: Bool }, { title: 'NoShowRules' })
export type NoShowRules = Static<typeof NoShowRules>

/** A policy as a reservation keeps it: the version's rules and the text that the guest saw. */
export type PolicySnapshot<Rules> = { versionId: string; rules: Rules; text: string; hash: string }
export type PolicySnapshots = {
  cancellation: PolicySnapshot<CancellationRules>
  noShow: PolicySnapshot<NoShowRules>
  deposit: PolicySnapshot<DepositRules> | null
}
