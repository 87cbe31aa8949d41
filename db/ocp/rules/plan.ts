import { invalid } from '../../../config/errors.ts'
import type { ChannelKind } from './contents.ts'

/** One channel of a plan, and how long nothing may be heard of it before the next one has its turn. */
export type PlanStep = { channel: ChannelKind; waitMinutes: number }

const defaultWaitMinutes = 30

export const planOf = (order: readonly ChannelKind[]): PlanStep[] =>
  order.map((channel) => ({ channel, waitMinutes: defaultWaitMinutes }))

/** A channel stands in a plan once. 400 */
export const judgePlan = (plan: readonly PlanStep[] | null | undefined): void => {
  const twice = plan?.findIndex(({ channel }, at) => plan.findIndex((one) => one.channel === channel) < at) ?? -1
  if (twice >= 0) throw invalid([{ field: `plan.${twice}.channel`, message: 'stands in the plan already' }])
}
