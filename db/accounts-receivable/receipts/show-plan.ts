import { cashOf } from '../rules/allocations.ts'
import { cashOfPlan } from './write.ts'
import type { Planned } from './write.ts'

/** A plan as a dry run shows it. Amounts in minor units. */
export const shownPlan = (plan: Planned & { customerId: string | null }, available: number, currency: string) => ({
  customerId: plan.customerId,
  on: plan.on,
  allocations: [
    ...plan.allocations.map(({ installment: { installmentId, receivableId }, amounts }) => ({
      installmentId,
      receivableId,
      targetType: null,
      targetId: null,
      ...amounts,
      cash: cashOf(amounts),
    })),
    ...plan.transfers.map(({ targetType, targetId, amount }) => ({
      installmentId: null,
      receivableId: null,
      targetType,
      targetId,
      principal: amount,
      interest: 0,
      fine: 0,
      discount: 0,
      fee: 0,
      withheld: [],
      cash: amount,
    })),
  ],
  cash: cashOfPlan(plan),
  available: available - cashOfPlan(plan),
  currency,
})
export type PlanShown = ReturnType<typeof shownPlan>
