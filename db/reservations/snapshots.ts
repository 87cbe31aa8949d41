import { unprocessable } from '../../config/errors.ts'
import type { PolicySnapshots } from '../../config/policy-rules.ts'
import { cancellationText, depositText, noShowText } from '../properties/index.ts'
import type { Catalogue, SalePlan, SaleProperty } from '../properties/index.ts'

/** Copies of the plan's policies, as the stay keeps them. */
export const snapshotsOf = ({ cancellation, noShow, deposit }: SalePlan, property: SaleProperty): PolicySnapshots => {
  const wording = { locale: property.locales[0] ?? 'en', currency: property.currency }
  const snapshot = <Rules>(
    { versionId, rules, hash }: { versionId: string; rules: Rules; hash: string },
    text: string,
  ) => ({
    versionId,
    rules,
    text,
    hash,
  })
  return {
    cancellation: snapshot(cancellation, cancellationText(cancellation.rules, wording)),
    noShow: snapshot(noShow, noShowText(noShow.rules, wording)),
    deposit: deposit ? snapshot(deposit, depositText(deposit.rules, wording)) : null,
  }
}

/** Copies of the policies that a plan has today. 422 `reference_not_found` for an archived plan, which has none. */
export const termsOfToday = (
  { ratePlans }: Pick<Catalogue, 'ratePlans'>,
  ratePlanId: string,
  property: SaleProperty,
): PolicySnapshots => {
  const plan = ratePlans.find((one) => one.id === ratePlanId)
  if (!plan)
    throw unprocessable('reference_not_found', 'The rate plan is archived, and has no terms of today', [
      { field: 'policy', message: 'the rate plan of the stay is archived; keep the terms, or change the plan' },
    ])
  return snapshotsOf(plan, property)
}
