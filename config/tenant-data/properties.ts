import { inner, rows } from './table.ts'

export const propertiesData = [
  ...rows(
    'property', 'age_category', 'tax_rule', 'policy', 'policy_version', 'rate_plan', 'rate_plan_unit_type', 'rate_cell',
    'restriction_cell', 'extra', 'promo_code', 'property_payment_method', 'gallery_image', 'season', 'season_range',
    'rate_change', 'rate_change_level',
  ), // oxfmt-ignore
  ...inner('says where the property is', 'property_directory'),
]
