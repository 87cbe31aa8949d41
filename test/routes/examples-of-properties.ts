import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { createPromoCode } from '../../db/properties/terms/promo-codes.ts'
import { createTaxRule } from '../../db/properties/terms/tax-rules.ts'
import { createProperty } from '../../db/properties/house/properties/create.ts'
import { addImages } from '../../db/properties/house/gallery.ts'
import { createPolicy } from '../../db/properties/terms/policies.ts'
import { createRateChange } from '../../db/properties/rates/rate-changes.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

const name = { 'pt-BR': 'Barco', en: 'Boat' }
const rules = {
  tiers: [],
  after: { type: 'full' as const, value: 0, of: 'total' as const },
  graceHoursAfterBooking: 0,
  earlyDeparture: { type: 'none' as const, value: 0, of: 'total' as const },
}

/** Inputs that the staff side of a house needs to be answered at all: records that can be retired, bodies that fit one another. */
export const ofProperties = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const { propertyId } = house
  const draft = await makeHouse({ tenantId: house.tenantId, draft: true, units: 0 })
  const stopped = await makeHouse({ tenantId: house.tenantId })
  // Whose plans and types no other endpoint is told of.
  const quiet = await makeHouse({ tenantId: house.tenantId })
  const newProperty = (code: string) => ({
    code,
    slug: `fuzz-${code.toLowerCase()}`,
    name: 'A house',
    kind: 'inn',
    timezone: 'America/Sao_Paulo',
    currency: 'BRL',
    locales: ['pt-BR'],
  })
  const policy = (code: string) => ({ propertyId, code, name: 'Spare', kind: 'cancellation' as const, rules })
  const extra = (code: string) => ({
    propertyId,
    code,
    name,
    category: 'activity' as const,
    revenueGroup: 'tours' as const,
    amount: 5_000,
    basis: 'per_stay' as const,
  })
  const tax = (code: string) => ({
    propertyId,
    code,
    name,
    kind: 'fee' as const,
    basis: 'per_night' as const,
    amount: 100,
    appliesTo: 'room' as const,
    validFrom: '2020-01-01',
    validTo: '2020-02-01',
  })
  const promo = (code: string) => ({ propertyId, code, type: 'percent' as const, value: 500 })
  const picture = (file: string) => ({ url: `https://example.com/${file}.jpg`, category: 'common' as const })
  const made = await house.inHouse(async (trx) => ({
    // Without plans that speak of its ages.
    barePropertyId: await createProperty(trx, { ...newProperty('BARE'), kind: 'inn' }),
    taxRuleId: await createTaxRule(trx, tax('PAST')),
    goneTaxIds: await createTaxRule(trx, tax('GONE')),
    promoCodeId: await createPromoCode(trx, promo('SPRING')),
    gonePromoCodeId: await createPromoCode(trx, promo('GONE')),
    plan: await sqlOne<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    ),
    policyId: await createPolicy(trx, policy('SPARE')),
    gonePolicyId: await createPolicy(trx, policy('GONE')),
    extraId: await createExtra(trx, extra('BOAT')),
    goneExtraId: await createExtra(trx, extra('GONE')),
    imageIds: await addImages(trx, propertyId, [picture('first'), picture('gone')]),
  }))
  const { plan } = made
  const ratePlan = (code: string) => ({
    propertyId,
    code,
    name,
    ...plan,
    unitTypes: [{ unitTypeId: house.unitTypeId, standardAmount: 10_000 }],
  })
  const { gonePlanId, change } = await house.inHouse(async (trx) => ({
    gonePlanId: await createRatePlan(trx, {
      ...ratePlan('GONE'),
      cancellationPolicyId: plan?.cancellationPolicyId ?? '',
      noShowPolicyId: plan?.noShowPolicyId ?? '',
    }),
    change: await createRateChange(trx, {
      propertyId,
      items: [{ from: house.day(100), to: house.day(101), ratePlanIds: [house.ratePlanId], amount: 9_000 }],
    }),
  }))
  const nightAudit = randomUUID()
  await stopped.inHouse(async (trx) => {
    await sql(trx, `insert into night_audit (id, property_id, business_date) values (?, ?, ?)`, [
      nightAudit,
      stopped.propertyId,
      stopped.day(-9),
    ])
    // A day that is over.
    await sql(trx, `update business_day set date = date - 1 where property_id = ?`, [stopped.propertyId])
    await sql(trx, `update property set business_date = business_date - 1 where id = ?`, [stopped.propertyId])
  })
  const item = (more: object) => ({ from: house.day(200), to: house.day(203), ...more })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    known: {
      policyId: one(made.policyId),
      extraId: one(made.extraId),
      currency: one('BRL'),
      locales: one(['pt-BR'], ['pt-BR', 'en']),
      unitTypeIds: one([], [house.unitTypeId]),
      seasons: one(
        [],
        [{ code: 'HIGH', name: 'High', colour: '#aa3300', ranges: [{ from: house.day(30), to: house.day(60) }] }],
      ),
      paymentMethods: one(
        [{ method: 'pix', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId }],
        [{ method: 'pay_at_property', offeredTo: 'both' }],
      ),
      unitTypes: one([{ unitTypeId: house.unitTypeId }], []),
      parentId: one(null),
      derivation: one(null),
      includedExtras: one([]),
      depositPolicyId: one(null),
      losDiscounts: one([]),
      bookableUntil: one(null),
      stayUntil: one(null),
      maxNights: one(null),
      maxAdvanceDays: one(null),
      exemptAgeCategoryIds: one([]),
      accountId: one(null),
      basis: one('per_night'),
      appliesTo: one('room'),
      validTo: one(null),
      taxRuleId: one(made.taxRuleId),
      promoCodeId: one(made.promoCodeId),
      galleryImageId: one(made.imageIds[0]),
      unitPoolId: one(house.poolId),
      rateChangeId: one(change),
      nightAuditId: one(nightAudit),
      ratePlanIds: one([house.ratePlanId]),
      cancellationPolicyId: one(plan?.cancellationPolicyId),
      noShowPolicyId: one(plan?.noShowPolicyId),
      'taxRules.delete taxRuleId': one(made.goneTaxIds),
      'gallery.delete galleryImageId': one(made.imageIds[1]),
      'promoCodes.archive promoCodeId': one(made.gonePromoCodeId),
      'ratePlans.archive ratePlanId': one(gonePlanId),
      'ratePlans.restore ratePlanId': one(gonePlanId),
      'policies.archive policyId': one(made.gonePolicyId),
      'extras.archive extraId': one(made.goneExtraId),
      'ageCategories.replace propertyId': one(made.barePropertyId),
      'properties.suspend propertyId': one(stopped.propertyId),
      'properties.archive propertyId': one(draft.propertyId),
    },
    examples: {
      'properties.list': [{}, { q: 'House', sort: '-name' }],
      'properties.update': [{ name: 'A name' }, { cleaningMinutes: 30 }, { description: { 'pt-BR': 'Casa' } }],
      'properties.updateSettings': [{ holds: { checkoutMinutes: 12 } }, { portal: { maxNights: 20 } }],
      'properties.suspend': [{ reason: 'a storm' }],
      'policies.update': [{ name: 'Other' }, { rules }],
      'ratePlans.list': [{}, { q: 'flex', propertyId }],
      'ratePlans.update': [{ name }, { minNights: 1 }, { losDiscounts: [{ minNights: 7, rate: 500 }] }],
      'rateCalendar.read': [{ propertyId, from: house.day(1), to: house.day(9), trace: true }],
      'availability.read': [{ propertyId, from: house.day(1), to: house.day(9) }],
      'availability.search': [
        { propertyId, arrival: house.day(20), departure: house.day(22), rooms: [{ adults: 2, childrenAges: [] }] },
      ],
      'overbookingLimits.list': [{ propertyId }, { propertyId, from: house.day(1), to: house.day(30) }],
      'overbookingLimits.set': [
        item({ propertyId, unitPoolId: house.poolId, quantity: 2, reason: 'a fair in town' }),
        item({ propertyId, unitPoolId: house.poolId, quantity: 0, reason: 'no fair in town', weekDays: [6, 7] }),
      ],
      'gallery.update': [{ position: 3 }, { caption: { 'pt-BR': 'A fachada' } }, { category: 'unit' }],
      'availability.explain': [
        {
          propertyId: quiet.propertyId,
          arrival: quiet.day(20),
          departure: quiet.day(22),
          unitTypeId: quiet.unitTypeId,
          ratePlanId: quiet.ratePlanId,
        },
      ],
      'nightAudits.list': [{}, { propertyId, status: 'queued' }],
      'nightAudits.run': [
        { propertyId: stopped.propertyId, businessDate: stopped.day(-1) },
        { propertyId, businessDate: house.today, dryRun: true },
      ],
      'rateChanges.list': [{}, { propertyId, status: 'applied' }],
      'rateChanges.create': [
        { propertyId, items: [item({ ratePlanIds: [house.ratePlanId], amount: 12_000 })] },
        { propertyId, dryRun: true, items: [item({ restrictions: { minStayThrough: 2 } })] },
        {
          propertyId,
          items: [item({ ratePlanIds: [house.ratePlanId], adjust: { type: 'percent', value: 100 }, weekDays: [1, 2] })],
        },
      ],
      'rateChanges.read': [{}, { page: 1, limit: 1_000 }],
      'ageCategories.replace': [
        {
          ageCategories: [
            { code: 'KID', name, minAge: 0, maxAge: 11, kind: 'child', countsInOccupancy: true },
            { code: 'ADULT', name, minAge: 12, maxAge: null, kind: 'adult', countsInOccupancy: true },
          ],
        },
      ],
      'taxRules.list': [{}, { validOn: house.day(1) }],
      'taxRules.update': [{ name }, { validTo: '2020-03-01' }, { amount: 200 }],
      'promoCodes.list': [{}, { q: 'spring' }],
      'promoCodes.update': [{ minNights: 2 }, { maxRedemptions: 50 }, { stayUntil: house.day(90) }],
      'extras.update': [{ amount: 6_000 }, { dailyLimit: 5 }, { dailyLimit: null }],
    },
  }
}
