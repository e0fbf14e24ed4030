{# The tests: a row is a breach. What is undecided is one, too: a table without records, and one of which
   more than half of the records are suppressed. #}

{% test k_anonymity(model, quasi, at_least, leave_out_suppressed=true) %}
  select * from ({{ sievert.k_anonymity_of(model, quasi, leave_out_suppressed) }}) as measured
  where k is null or k < {{ at_least }} or 2 * suppressed > records
    or (suppressed > 0 and suppressed < {{ at_least }})
{% endtest %}

{# Secrets that are spelt in several ways, or cannot be compared, are undecided, unless distinct_spellings says
   that all spellings differ. The row says how many values are concerned. #}
{% test l_diversity(model, quasi, sensitive, at_least, leave_out_suppressed=true, distinct_spellings=false) %}
  select measured.*, spelt.spelt_differently, spelt.not_compared
  from ({{ sievert.l_diversity_of(model, quasi, sensitive, leave_out_suppressed) }}) as measured
  cross join (
    {%- if distinct_spellings %}
    select 0 as spelt_differently, 0 as not_compared
    {%- else %}
    {{ sievert.spellings_of(model, sensitive) }}
    {%- endif %}
  ) as spelt
  where l is null or l < {{ at_least }} or l_without_missing < {{ at_least }} or 2 * suppressed > records
    or spelt_differently > 0 or not_compared > 0
    or (suppressed > 0 and (
      select count(distinct {{ sievert.without_nan(sensitive, true) }}) from {{ model }}
      where {{ sievert.suppressed_condition(quasi, leave_out_suppressed) }}
    ) < {{ at_least }})
{% endtest %}

{% test unique_share(model, quasi, at_most, leave_out_suppressed=true) %}
  select * from ({{ sievert.unique_share_of(model, quasi, leave_out_suppressed) }}) as measured
  where people is null or uniques > {{ at_most }} * people or 2 * suppressed > records
{% endtest %}
