import { textIn } from '../../config/local-text.ts'
import { todayIn } from '../../config/time.ts'
import { scaled } from '../../db/lib/amounts.ts'
import type { Trx } from '../../db/lib/connection.ts'
import {
  catalogueOf,
  termsVersion,
  lowestAmounts,
  readyImages,
  cancellationText,
  depositText,
  freeUntil,
  refundability,
  addTaxes,
  propertyFor,
  pairsOf,
  searchOffers,
} from '../../db/properties/index.ts'
import type { SaleProperty } from '../../db/properties/index.ts'
import type { Place } from './cache.ts'

/** Texts of a property in a locale. */
export const texts = (property: SaleProperty, locale: string) => (text: Record<string, string>) =>
  textIn(text, locale, ...property.locales)

/** All of `config` but the clock. */
export const configOf = async (trx: Trx, { propertyId, locale }: Place) => {
  const property = await propertyFor(trx, propertyId, 'portal')
  const catalogue = await catalogueOf(trx, property)
  const text = texts(property, locale)
  const { portal, holds } = property.settings
  const today = todayIn(property.timezone, property.now)
  const extra = (category: string) => {
    const found = catalogue.extras.find((known) => known.category === category && known.bookableOnline)
    return found ? { amount: found.amount, basis: found.basis } : null
  }
  return {
    propertyId,
    slug: property.slug,
    name: property.name,
    kind: property.kind,
    description: text(property.description),
    address: property.address,
    geo:
      property.latitude === null || property.longitude === null
        ? null
        : { latitude: Number(property.latitude), longitude: Number(property.longitude) },
    phone: property.phone,
    email: property.email,
    website: property.website,
    timezone: property.timezone,
    currency: property.currency,
    locales: property.locales,
    sales: property.status === 'live' ? ('open' as const) : ('closed' as const),
    amenities: property.amenities,
    houseRules: text(property.houseRules),
    ageCategories: catalogue.ageCategories.map(({ code, name, minAge, maxAge, kind }) => ({
      code,
      name: text(name),
      minAge,
      maxAge,
      kind,
    })),
    portal: {
      theme: portal.theme,
      maxRooms: portal.maxRooms,
      maxNights: portal.maxNights,
      minAdvanceMinutes: portal.minAdvanceMinutes,
      maxAdvanceDays: portal.maxAdvanceDays,
      holdMinutes: holds.checkoutMinutes,
      requiredGuestFields: portal.requiredGuestFields,
      terms: text(portal.terms),
      termsVersion: termsVersion(portal.terms),
      privacyUrl: portal.privacyUrl,
    },
    disclosures: {
      checkInFrom: property.checkInFrom,
      checkInUntil: property.checkInUntil,
      checkOutUntil: property.checkOutUntil,
      cleaningMinutes: property.cleaningMinutes,
      earlyCheckIn: extra('early_check_in'),
      lateCheckOut: extra('late_check_out'),
      taxes: catalogue.taxRules
        .filter((rule) => rule.validFrom <= today && (rule.validTo === null || today <= rule.validTo))
        .map(({ name, basis, rate, amount, included }) => ({
          name: text(name),
          basis,
          included,
          ...(rate === null ? { amount: amount ?? 0 } : { rate }),
        })),
    },
  }
}

export const roomsOf = async (trx: Trx, { propertyId, locale }: Place) => {
  const property = await propertyFor(trx, propertyId, 'portal')
  const catalogue = await catalogueOf(trx, property)
  const text = texts(property, locale)
  const images = await readyImages(trx, propertyId)
  const pairs = pairsOf({ catalogue, audience: 'portal', promo: null })
  const lowest = await lowestAmounts(trx, property, catalogue, pairs)
  const wording = { locale, currency: property.currency }
  return {
    currency: property.currency,
    unitTypes: [...new Set(pairs.map((pair) => pair.type))].map((type) => ({
      unitTypeId: type.id,
      code: type.code,
      name: text(type.name),
      description: text(type.description),
      kind: type.kind,
      baseOccupancy: type.baseOccupancy,
      maxAdults: type.maxAdults,
      maxChildren: type.maxChildren,
      maxOccupancy: type.maxOccupancy,
      beds: type.beds,
      sizeM2: type.sizeM2,
      amenities: type.amenities,
      images: images
        .filter((image) => image.unitTypeId === type.id)
        .map(({ url, caption, width, height }) => ({ url, caption: text(caption), width, height })),
      ratePlans: pairs
        .filter((pair) => pair.type === type)
        .map(({ plan }) => ({
          ratePlanId: plan.id,
          code: plan.code,
          name: text(plan.name),
          description: text(plan.description),
          mealPlan: plan.mealPlan,
          includedExtras: plan.includedExtras,
          refundable: refundability(plan.cancellation.rules),
          cancellationText: cancellationText(plan.cancellation.rules, wording),
          depositText: depositText(plan.deposit?.rules ?? null, wording),
          fromAmount: lowest.get(`${plan.id} ${type.id}`) ?? null,
        })),
    })),
    extras: catalogue.extras
      .filter((extra) => extra.bookableOnline || extra.mandatory)
      .map((extra) => ({
        extraId: extra.id,
        name: text(extra.name),
        description: text(extra.description),
        category: extra.category,
        basis: extra.basis,
        amount: extra.amount,
        mandatory: extra.mandatory,
        maxQuantity: extra.maxQuantity,
        cutoffHours: extra.cutoffHours,
        unitTypeIds: extra.unitTypeIds,
      })),
  }
}

export type StayQuery = {
  arrival: string
  departure: string
  adults: number
  ages: number[]
  rooms: number
  promoCode: string | null
  unitTypeIds: string[] | undefined
}

const mostShown = 5

/** Offers per room, as a guest may see them: never how many units there really are. */
export const stayOf = async (trx: Trx, { propertyId, locale }: Place, query: StayQuery) => {
  const found = await searchOffers(trx, {
    propertyId,
    arrival: query.arrival,
    departure: query.departure,
    rooms: Array.from({ length: query.rooms }, () => ({ adults: query.adults, childrenAges: query.ages })),
    promoCode: query.promoCode,
    unitTypeIds: query.unitTypeIds,
    audience: 'portal',
    locale,
  })
  const { sale } = found
  const offered = new Set(found.offers.map((offer) => offer.type.id))
  const refused = new Map<string, Set<string>>()
  for (const { type, codes } of found.unavailable)
    if (!offered.has(type.id)) refused.set(type.id, new Set([...(refused.get(type.id) ?? []), ...codes]))
  return {
    currency: sale.property.currency,
    offers: found.offers.flatMap(({ type, plan, free, rooms: [room], dueNow, rooms }) =>
      room
        ? [
            {
              unitTypeId: type.id,
              ratePlanId: plan.id,
              left: Math.min(mostShown, free),
              nights: room.nights.map(({ date, amount }) => ({ date, amount })),
              mandatoryExtras: room.extras.map(({ extraId, name, amount }) => ({ extraId, name, amount })),
              taxes: addTaxes([...room.nights, ...room.extras].flatMap((line) => line.taxes)).map(
                ({ name, included, amount }) => ({ name, included, amount }),
              ),
              total: room.total,
              dueNow: scaled(dueNow, 1, rooms.length),
              cancellation: {
                text: cancellationText(plan.cancellation.rules, {
                  locale: sale.locale,
                  currency: sale.property.currency,
                }),
                freeUntil: freeUntil(
                  plan.cancellation.rules,
                  { nights: room.nights.map((night) => night.amount), roomTotal: room.roomTotal, total: room.total },
                  sale,
                ),
              },
            },
          ]
        : [],
    ),
    unavailable: [...refused].map(([unitTypeId, reasons]) => ({ unitTypeId, reasons: [...reasons] })),
  }
}
