{# The tests: a row is a breach. What is undecided is one, too: a table without records, and one of which
   more than half of the records are suppressed. #}

{% test k_anonymity(model, quasi, at_least, leave_out_suppressed=true) %}
  select * from ({{ sievert.k_anonymity_of(model, quasi, leave_out_suppressed) }}) as measured
  where k is null or k < {{ at_least }} or 2 * suppressed > records
{% endtest %}

{% test l_diversity(model, quasi, sensitive, at_least, leave_out_suppressed=true) %}
  select * from ({{ sievert.l_diversity_of(model, quasi, sensitive, leave_out_suppressed) }}) as measured
  where l is null or l < {{ at_least }} or l_without_missing < {{ at_least }} or 2 * suppressed > records
{% endtest %}

{% test unique_share(model, quasi, at_most, leave_out_suppressed=true) %}
  select * from ({{ sievert.unique_share_of(model, quasi, leave_out_suppressed) }}) as measured
  where people is null or uniques > {{ at_most }} * people or 2 * suppressed > records
{% endtest %}
