/** Properties: what a house is, what it costs, how it is sold and on which terms. Other modules and the edges import this file alone. */
export { readAgeCategories, replaceAgeCategories, setAgeCategories } from './house/age-categories.ts'
export { changeSettings, termsVersion } from './house/properties/settings.ts'
export { createProperty } from './house/properties/create.ts'
export { archiveProperty, goLive, suspendProperty, takeOver } from './house/properties/status.ts'
export { tenantOfProperty } from './house/directory.ts'
export {
  addImages,
  addressOfImage,
  changeImage,
  createImage,
  imagesDue,
  listImages,
  readImage,
  readyImages,
  recordCheck,
  removeImage,
} from './house/gallery.ts'
export type { Finding } from './house/gallery.ts'
export { portalMethods, readPaymentMethods, replacePaymentMethods, setPaymentMethods } from './house/payment-methods.ts'
export type { PaymentMethodShown } from './house/payment-methods.ts'
export { changeProperty } from './house/properties/change.ts'
export { listProperties, propertySorts, readPropertyRecord } from './house/properties/read.ts'
export { blockersOf, warningsOf } from './house/readiness.ts'
export { readSeasons, replaceSeasons } from './house/seasons.ts'
export { readRateCalendar } from './rates/rate-calendar.ts'
export { readKeptCells, writePrices } from './rates/rate-cells.ts'
export {
  createRateChange,
  listRateChanges,
  previewRateChange,
  readRateChange,
  revertRateChange,
} from './rates/rate-changes.ts'
export { archiveRatePlan, restoreRatePlan } from './rates/rate-plans/status.ts'
export { changeRatePlan } from './rates/rate-plans/change.ts'
export { listRatePlans, readRatePlan } from './rates/rate-plans/read.ts'
export { applyRateChange, resumeRates, stuckRates } from './rates/rate-queue.ts'
export { createRatePlan } from './rates/rate-plans/create.ts'
export type { PriceCell } from './rates/rate-cells.ts'
export { depositSchedule } from './rules/deposits.ts'
export { dailyAmount, serviceDates } from './rules/extras.ts'
export { feeAmount, feeTiers, freeUntil, refundability } from './rules/policies.ts'
export type { FeeBase, FeeInstants } from './rules/policies.ts'
export { cancellationText, depositText, noShowText } from './rules/policy-text.ts'
export { sentenceOf, stayChecks } from './rules/restrictions.ts'
export type { Restriction } from './rules/restrictions.ts'
export { addTaxes, addTaxesOf, extraTaxes, nightTaxes, onTop } from './rules/taxes.ts'
export type { TaxRule, TaxedNight } from './rules/taxes.ts'
export { readGrid } from './sale/availability-grid.ts'
export { levels, readPrices, readRestrictions } from './sale/calendar.ts'
export { catalogueOf, readProperty } from './sale/catalogue.ts'
export type { Catalogue, SalePlan, SaleProperty, SaleType } from './sale/catalogue.ts'
export { nightsBelow, priceForDesk, wrongNight } from './sale/desk-sale.ts'
export type { DeskRoom, DeskSale } from './sale/desk-sale.ts'
export { explainStay } from './sale/explain.ts'
export { searchDays } from './sale/flexible-dates.ts'
export { lowestAmounts } from './sale/lowest-rates.ts'
export { setOverbooking } from './sale/overbooking.ts'
export { countParty, fits } from './rules/party.ts'
export type { Party } from './rules/party.ts'
export { componentsOf, extrasOf, localTaxRules, nightPrices } from './rules/stay-price.ts'
export { claimsOf, policiesShown, priceStay, scheduleOf } from './sale/quote.ts'
export { localeOf, propertyFor } from './sale/sale-request.ts'
export { pairsOf, searchOffers } from './sale/search.ts'
export type { Offer } from './sale/search.ts'
export { checkSellable, extraMoves } from './sale/sellable.ts'
export type { Sellable, SellableRoom } from './sale/sellable.ts'
export { archiveExtra, changeExtra, createExtra, listExtras, readExtra } from './terms/extras.ts'
export { archivePolicy, changePolicy, createPolicy, listPolicies, readPolicy } from './terms/policies.ts'
export {
  archivePromoCode,
  changePromoCode,
  createPromoCode,
  listPromoCodes,
  readPromoCode,
} from './terms/promo-codes.ts'
export { promoCodeInvalid, redeemPromoCode, retakePromoCode, returnPromoCode } from './terms/promo.ts'
export {
  changeTaxRule,
  createTaxRule,
  deleteTaxRule,
  holdTaxRules,
  keepTaxRules,
  listTaxRules,
  readTaxRule,
} from './terms/tax-rules.ts'
