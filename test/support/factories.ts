import { randomUUID } from 'node:crypto'
import type { CancellationRules, DepositRules, NoShowRules } from '../../config/policy-rules.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { addDays, daysIn, todayIn } from '../../config/time.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { addSandboxAccount } from '../../db/payment/index.ts'
import { setAgeCategories } from '../../db/properties/house/age-categories.ts'
import { createTaxRule } from '../../db/properties/terms/tax-rules.ts'
import { createProperty } from '../../db/properties/house/properties/create.ts'
import { goLive } from '../../db/properties/house/properties/status.ts'
import { termsVersion } from '../../db/properties/house/properties/settings.ts'
import { setPaymentMethods } from '../../db/properties/house/payment-methods.ts'
import { createPolicy } from '../../db/properties/terms/policies.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { makeTenant } from './tenants.ts'
import type { TenantOptions } from './tenants.ts'

export const timeZone = 'America/Sao_Paulo'
const terms = { 'pt-BR': 'Termos da casa', en: 'House terms' }

export const freeUntilAWeekBefore: CancellationRules = {
  tiers: [
    { hoursBeforeArrival: 168, fee: { type: 'none', value: 0, of: 'total' } },
    { hoursBeforeArrival: 48, fee: { type: 'percent', value: 5000, of: 'total' } },
  ],
  after: { type: 'full', value: 0, of: 'total' },
  graceHoursAfterBooking: 0,
  earlyDeparture: { type: 'nights', value: 1, of: 'room' },
}

export const neverRefunded: CancellationRules = {
  tiers: [],
  after: { type: 'full', value: 0, of: 'total' },
  graceHoursAfterBooking: 0,
  earlyDeparture: { type: 'full', value: 0, of: 'total' },
}

const noShow: NoShowRules = { fee: { type: 'full', value: 0, of: 'total' }, releaseRemaining: true }
export const thirtyPercent: DepositRules = {
  installments: [{ due: 'booking', type: 'percent', value: 3000 }],
  graceHours: 24,
  ifUnpaid: 'warn',
}

export type HouseOptions = TenantOptions & {
  /** An existing tenant; else one is made. */
  tenantId?: string
  /** Units of the first type. */
  units?: number
  /** A second type, of one unit. */
  suite?: boolean
  /** Minor units per night of the first type; the suite costs twice that. */
  amount?: number
  /** Cells for so many nights from today; without them the standard amount holds. */
  pricedNights?: number
  /** Of the flexible plan; null takes nothing before arrival. */
  deposit?: DepositRules | null
  cancellation?: CancellationRules
  /** 5 % included and a fee of 300 per person and night on top. */
  taxes?: boolean
  settings?: StoredSettings
  /** `HH:MM`; 14:00 unless said. */
  checkInFrom?: string
  /** Stays a draft. */
  draft?: boolean
}

export type House = {
  tenantId: string
  propertyId: string
  bookId: string
  gatewayAccountId: string
  /** Standard rooms. */
  unitTypeId: string
  poolId: string
  unitIds: string[]
  suiteTypeId: string | null
  suitePoolId: string | null
  /** With a deposit, and refundable. */
  ratePlanId: string
  /** Whole price at booking, and nothing back. */
  saverPlanId: string
  termsVersion: string
  /** In the property's zone. */
  today: string
  /** Days from today. */
  day: (days: number) => string
  inHouse: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
}

const build = async (trx: Trx, tenantId: string, options: HouseOptions): Promise<Omit<House, 'day' | 'inHouse'>> => {
  const { units = 2, suite = false, amount = 20_000, pricedNights = 0, taxes = false } = options
  const [book] = await sql<{ id: string; currency: string }>(trx, `select id, currency from book where is_default`)
  if (!book) throw new Error('the tenant has no book')
  const name = randomUUID().slice(0, 8)
  const propertyId = await createProperty(trx, {
    code: name.toUpperCase(),
    slug: `house-${name}`,
    name: `House ${name}`,
    description: { 'pt-BR': 'Uma casa', en: 'A house' },
    kind: 'inn',
    timezone: timeZone,
    currency: book.currency,
    locales: ['pt-BR', 'en'],
    address: { line1: 'Rua do Sol, 1', city: 'Paraty', region: 'RJ', postalCode: '23970-000', countryCode: 'BR' },
    legalName: `House ${name} Ltda`,
    legalDocument: '11222333000181',
    checkInFrom: options.checkInFrom ?? '14:00',
    checkOutUntil: '12:00',
    settings: {
      taxes: { none: !taxes },
      ...options.settings,
      portal: { enabled: true, terms, returnHosts: ['portal.example'], ...options.settings?.portal },
    },
  })
  const gatewayAccountId = await addSandboxAccount(trx, { bookId: book.id, country: 'BR', currency: book.currency })
  const ages = await setAgeCategories(trx, propertyId, [
    { code: 'INFANT', name: { en: 'Infant' }, minAge: 0, maxAge: 1, kind: 'infant', countsInOccupancy: false },
    { code: 'CHILD', name: { en: 'Child' }, minAge: 2, maxAge: 11, kind: 'child', countsInOccupancy: true },
    { code: 'ADULT', name: { en: 'Adult' }, minAge: 12, maxAge: null, kind: 'adult', countsInOccupancy: true },
  ])
  const standard = await createUnitType(trx, {
    propertyId,
    code: 'STD',
    name: { 'pt-BR': 'Quarto', en: 'Room' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 3,
    maxChildren: 2,
    maxOccupancy: 4,
    beds: [{ kind: 'double', count: 1 }],
  })
  const made =
    units > 0
      ? await createUnits(trx, {
          propertyId,
          unitTypeId: standard.id,
          names: Array.from({ length: units }, (_, index) => `${101 + index}`),
        })
      : []
  const master = suite
    ? await createUnitType(trx, {
        propertyId,
        code: 'SUITE',
        name: { 'pt-BR': 'Suíte', en: 'Suite' },
        kind: 'private',
        baseOccupancy: 2,
        maxAdults: 2,
        maxChildren: 1,
        maxOccupancy: 3,
        position: 1,
      })
    : null
  if (master) await createUnits(trx, { propertyId, unitTypeId: master.id, names: ['201'] })
  if (taxes) {
    const validFrom = '2020-01-01'
    await createTaxRule(trx, {
      propertyId,
      code: 'ISS',
      name: { en: 'ISS', 'pt-BR': 'ISS' },
      kind: 'tax',
      basis: 'percent',
      rate: 500,
      included: true,
      appliesTo: 'both',
      validFrom,
    })
    await createTaxRule(trx, {
      propertyId,
      code: 'TUR',
      name: { en: 'Tourism fee', 'pt-BR': 'Taxa de turismo' },
      kind: 'fee',
      basis: 'per_person_per_night',
      amount: 300,
      appliesTo: 'room',
      exemptAgeCategoryIds: ['INFANT', 'CHILD'].flatMap((code) => ages.get(code) ?? []),
      validFrom,
    })
  }
  const flexible = await createPolicy(trx, {
    propertyId,
    code: 'FLEX',
    name: 'Flexible',
    kind: 'cancellation',
    rules: options.cancellation ?? freeUntilAWeekBefore,
  })
  const strict = await createPolicy(trx, {
    propertyId,
    code: 'STRICT',
    name: 'Strict',
    kind: 'cancellation',
    rules: neverRefunded,
  })
  const noShowPolicyId = await createPolicy(trx, {
    propertyId,
    code: 'NOSHOW',
    name: 'No-show',
    kind: 'no_show',
    rules: noShow,
  })
  const deposit = options.deposit === undefined ? thirtyPercent : options.deposit
  const depositPolicyId = deposit
    ? await createPolicy(trx, { propertyId, code: 'DEP', name: 'Deposit', kind: 'deposit', rules: deposit })
    : null
  const whole = await createPolicy(trx, {
    propertyId,
    code: 'PREPAID',
    name: 'Prepaid',
    kind: 'deposit',
    rules: { installments: [{ due: 'booking', type: 'remaining', value: 0 }], graceHours: 24, ifUnpaid: 'cancel' },
  })
  const types = [{ id: standard.id, amount }, ...(master ? [{ id: master.id, amount: amount * 2 }] : [])]
  const entry = (type: { id: string; amount: number }) => ({
    unitTypeId: type.id,
    standardAmount: pricedNights > 0 ? null : type.amount,
    adults: { 1: { type: 'percent' as const, value: -1000 } },
    extraAdultAmount: 5_000,
    children: [
      ...(ages.get('INFANT') ? [{ ageCategoryId: ages.get('INFANT') ?? '', type: 'free' as const, value: 0 }] : []),
      ...(ages.get('CHILD') ? [{ ageCategoryId: ages.get('CHILD') ?? '', type: 'amount' as const, value: 3_000 }] : []),
    ],
  })
  const ratePlanId = await createRatePlan(trx, {
    propertyId,
    code: 'FLEX',
    name: { 'pt-BR': 'Flexível', en: 'Flexible' },
    cancellationPolicyId: flexible,
    noShowPolicyId,
    depositPolicyId,
    unitTypes: types.map(entry),
  })
  const saverPlanId = await createRatePlan(trx, {
    propertyId,
    code: 'SAVER',
    name: { 'pt-BR': 'Econômica', en: 'Saver' },
    cancellationPolicyId: strict,
    noShowPolicyId,
    depositPolicyId: whole,
    parentId: ratePlanId,
    derivation: { type: 'percent', value: -1000, roundTo: 100, mode: 'nearest' },
    unitTypes: types.map((type) => ({ ...entry(type), standardAmount: null })),
  })
  const today = todayIn(timeZone)
  if (pricedNights > 0)
    await writePrices(
      trx,
      propertyId,
      types.flatMap((type) =>
        daysIn(today, addDays(today, pricedNights)).map((date) => ({
          ratePlanId,
          unitTypeId: type.id,
          date,
          amount: type.amount,
        })),
      ),
    )
  await setPaymentMethods(trx, propertyId, [
    { method: 'card', offeredTo: 'both', gatewayAccountId, maxInstallments: 3 },
    { method: 'pix', offeredTo: 'both', gatewayAccountId },
  ])
  if (!options.draft) await goLive(trx, propertyId)
  return {
    tenantId,
    propertyId,
    bookId: book.id,
    gatewayAccountId,
    unitTypeId: standard.id,
    poolId: standard.pools[0]?.poolId ?? '',
    unitIds: made.map((unit) => unit.id),
    suiteTypeId: master?.id ?? null,
    suitePoolId: master?.pools[0]?.poolId ?? null,
    ratePlanId,
    saverPlanId,
    termsVersion: termsVersion(options.settings?.portal?.terms ?? terms),
    today,
  }
}

/** A tenant with a live property that can be booked: types, units, a flexible and a prepaid plan, a gateway account. */
export const makeHouse = async (options: HouseOptions = {}): Promise<House> => {
  const tenantId = options.tenantId ?? (await makeTenant(options))
  const house = await inTenant(tenantId, (trx) => build(trx, tenantId, options))
  return { ...house, day: (days) => addDays(house.today, days), inHouse: (work) => inTenant(tenantId, work) }
}
