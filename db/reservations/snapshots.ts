import type { PolicySnapshots } from '../../config/policy-rules.ts'
import { cancellationText, depositText, noShowText } from '../properties/index.ts'
import type { SalePlan, SaleProperty } from '../properties/index.ts'

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
