import type { CancellationRules, DepositRules } from '../../config/policy-rules.ts'
import type { Trx } from '../lib/connection.ts'
import {
  setAgeCategories,
  createExtra,
  createPromoCode,
  createTaxRule,
  createPolicy,
  createRatePlan,
} from '../properties/index.ts'
import { sol } from './ids.ts'
import { firstDay, pricePlan } from './prices.ts'

const none = { type: 'none', value: 0, of: 'total' } as const
const full = { type: 'full', value: 0, of: 'total' } as const

const flexible: CancellationRules = {
  tiers: [
    { hoursBeforeArrival: 168, fee: none },
    { hoursBeforeArrival: 48, fee: { type: 'percent', value: 5000, of: 'total' } },
  ],
  after: full,
  graceHoursAfterBooking: 0,
  earlyDeparture: { type: 'nights', value: 1, of: 'room' },
}
const strict: CancellationRules = { tiers: [], after: full, graceHoursAfterBooking: 0, earlyDeparture: full }
const third: DepositRules = {
  installments: [{ due: 'booking', type: 'percent', value: 3000 }],
  graceHours: 24,
  ifUnpaid: 'warn',
}
const whole: DepositRules = {
  installments: [{ due: 'booking', type: 'remaining', value: 0 }],
  graceHours: 24,
  ifUnpaid: 'cancel',
}

const base = { standard: 32_000, deluxe: 46_000, master: 89_000 }

/** Age bands, taxes and extras. */
export const buildCharges = async (trx: Trx) => {
  const { propertyId } = sol
  const ages = await setAgeCategories(trx, propertyId, [
    {
      code: 'INFANT',
      name: { 'pt-BR': 'Bebê', en: 'Infant' },
      minAge: 0,
      maxAge: 2,
      kind: 'infant',
      countsInOccupancy: false,
    },
    {
      code: 'CHILD',
      name: { 'pt-BR': 'Criança', en: 'Child' },
      minAge: 3,
      maxAge: 11,
      kind: 'child',
      countsInOccupancy: true,
    },
    {
      code: 'ADULT',
      name: { 'pt-BR': 'Adulto', en: 'Adult' },
      minAge: 12,
      maxAge: null,
      kind: 'adult',
      countsInOccupancy: true,
    },
  ])
  const infant = ages.get('INFANT') ?? ''
  const child = ages.get('CHILD') ?? ''
  const validFrom = '2020-01-01'
  await createTaxRule(trx, {
    propertyId,
    code: 'ISS',
    name: { 'pt-BR': 'ISS', en: 'Service tax (ISS)' },
    kind: 'tax',
    basis: 'percent',
    rate: 500,
    included: true,
    appliesTo: 'both',
    validFrom,
  })
  await createTaxRule(trx, {
    propertyId,
    code: 'TURISMO',
    name: { 'pt-BR': 'Taxa de turismo', en: 'Tourism fee' },
    kind: 'fee',
    basis: 'per_person_per_night',
    amount: 350,
    appliesTo: 'room',
    exemptAgeCategoryIds: [infant, child],
    maxNights: 10,
    validFrom,
  })
  const extra = { propertyId, maxQuantity: 4 }
  await createExtra(trx, {
    ...extra,
    code: 'EARLY',
    name: { 'pt-BR': 'Entrada antecipada', en: 'Early check-in' },
    category: 'early_check_in',
    revenueGroup: 'rooms',
    amount: 12_000,
    basis: 'per_stay',
    maxQuantity: 1,
    cutoffHours: 24,
  })
  await createExtra(trx, {
    ...extra,
    code: 'LATE',
    name: { 'pt-BR': 'Saída tardia', en: 'Late check-out' },
    category: 'late_check_out',
    revenueGroup: 'rooms',
    amount: 15_000,
    basis: 'per_stay',
    maxQuantity: 1,
  })
  await createExtra(trx, {
    ...extra,
    code: 'TRANSFER',
    name: { 'pt-BR': 'Traslado da rodoviária', en: 'Transfer from the bus station' },
    category: 'transport',
    revenueGroup: 'other',
    amount: 8_000,
    basis: 'per_unit',
    cutoffHours: 12,
  })
  await createExtra(trx, {
    ...extra,
    code: 'BOAT',
    name: { 'pt-BR': 'Passeio de escuna', en: 'Schooner trip' },
    category: 'activity',
    revenueGroup: 'tours',
    amount: 14_000,
    basis: 'per_person',
    maxQuantity: 1,
    cutoffHours: 24,
    dailyLimit: 30,
  })
  return { infant, child }
}

/** A flexible plan with a deposit, and one below it that is paid at once. */
export const buildPlans = async (trx: Trx, { infant, child }: { infant: string; child: string }) => {
  const { propertyId } = sol
  const cancellationPolicyId = await createPolicy(trx, {
    propertyId,
    code: 'FLEX',
    name: 'Flexível',
    kind: 'cancellation',
    rules: flexible,
  })
  const strictId = await createPolicy(trx, {
    propertyId,
    code: 'STRICT',
    name: 'Não reembolsável',
    kind: 'cancellation',
    rules: strict,
  })
  const noShowPolicyId = await createPolicy(trx, {
    propertyId,
    code: 'NOSHOW',
    name: 'Não comparecimento',
    kind: 'no_show',
    rules: { fee: full, releaseRemaining: true },
  })
  const depositPolicyId = await createPolicy(trx, {
    propertyId,
    code: 'DEP30',
    name: 'Sinal de 30%',
    kind: 'deposit',
    rules: third,
  })
  const wholeId = await createPolicy(trx, {
    propertyId,
    code: 'PREPAID',
    name: 'Pagamento antecipado',
    kind: 'deposit',
    rules: whole,
  })
  const children = [
    { ageCategoryId: infant, type: 'free' as const, value: 0 },
    { ageCategoryId: child, type: 'amount' as const, value: 6_000 },
  ]
  const entry = (unitTypeId: string, standardAmount: number | null) => ({
    unitTypeId,
    standardAmount,
    adults: { 1: { type: 'percent' as const, value: -1000 } },
    extraAdultAmount: 11_000,
    children,
  })
  await createRatePlan(trx, {
    id: sol.flexible,
    propertyId,
    code: 'FLEX',
    name: { 'pt-BR': 'Tarifa flexível com café da manhã', en: 'Flexible rate with breakfast' },
    description: { 'pt-BR': 'Cancele sem custo até 7 dias antes.', en: 'Cancel free of charge up to 7 days before.' },
    mealPlan: 'breakfast',
    cancellationPolicyId,
    noShowPolicyId,
    depositPolicyId,
    losDiscounts: [{ minNights: 7, rate: 500 }],
    unitTypes: [entry(sol.standard, base.standard), entry(sol.deluxe, base.deluxe), entry(sol.master, base.master)],
  })
  await createRatePlan(trx, {
    id: sol.saver,
    propertyId,
    code: 'SAVER',
    name: { 'pt-BR': 'Tarifa promocional não reembolsável', en: 'Saver rate, not refundable' },
    mealPlan: 'breakfast',
    cancellationPolicyId: strictId,
    noShowPolicyId,
    depositPolicyId: wholeId,
    parentId: sol.flexible,
    derivation: { type: 'percent', value: -1200, roundTo: 100, mode: 'nearest' },
    unitTypes: [entry(sol.standard, null), entry(sol.deluxe, null), entry(sol.master, null)],
  })
  await createPromoCode(trx, {
    propertyId,
    code: 'SOL10',
    type: 'percent',
    value: 1000,
    minNights: 2,
    maxRedemptions: 500,
  })
  await pricePlan(
    trx,
    propertyId,
    sol.flexible,
    { [sol.standard]: base.standard, [sol.deluxe]: base.deluxe, [sol.master]: base.master },
    firstDay(),
  )
}
