import { plans } from '../../../config/plans.ts'
import { Matching, OneOf } from '../../../config/schema.ts'

export const Plan = OneOf([...plans])

export const FeatureKey = Matching('^[a-z][a-z_]{1,39}$', 40)

export const currencies = { max: 20, pattern: '^[A-Z]{3}$' }
