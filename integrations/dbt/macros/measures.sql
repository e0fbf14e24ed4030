{# What is measured: one row of whole numbers each, as `sievert assess` gives them. A missing value is a
   value of its own; records with * in every quasi-identifier are suppressed, and left out unless
   leave_out_suppressed is false. No value of the data is in any row. #}

{% macro suppressed_condition(quasi, leave_out_suppressed) %}
  {%- if leave_out_suppressed -%}
    {%- for column in ([quasi] if quasi is string else quasi) -%}
      {{ " and " if not loop.first }}coalesce(cast({{ adapter.quote(column) }} as {{ dbt.type_string() }}), '') = '*'
    {%- endfor -%}
  {%- else -%}
    1 = 0
  {%- endif -%}
{% endmacro %}

{% macro records_of(model, quasi, leave_out_suppressed) %}
  select
    count(*) as records,
    coalesce(sum(case when {{ sievert.suppressed_condition(quasi, leave_out_suppressed) }} then 1 else 0 end), 0)
      as suppressed
  from {{ model }}
{% endmacro %}

{# A column whose NaN is missing, as in assess: else NaN would be a value of its own beside missing ones. In
   databases that cannot tell NaN from the text nan, the safer of both is taken: of a secret the text is missing
   too, so that l is not larger; of a quasi-identifier NaN stays a value of its own, so that k is not larger. #}
{% macro without_nan(name, secret=false) -%}
  {%- set column = adapter.quote(name) -%}
  case when {{ adapter.dispatch("is_nan", "sievert")(column, secret) }} then null else {{ column }} end
{%- endmacro %}

{% macro text_is_nan(column) -%}
  lower(cast({{ column }} as {{ dbt.type_string() }})) = 'nan'
{%- endmacro %}

{% macro default__is_nan(column, secret) -%}
  {%- if secret -%}{{ sievert.text_is_nan(column) }}{%- else -%}1 = 0{%- endif -%}
{%- endmacro %}

{% macro redshift__is_nan(column, secret) -%}
  {{ sievert.default__is_nan(column, secret) }}
{%- endmacro %}

{% macro duckdb__is_nan(column, secret) -%}
  typeof({{ column }}) in ('DOUBLE', 'FLOAT') and {{ sievert.text_is_nan(column) }}
{%- endmacro %}

{% macro postgres__is_nan(column, secret) -%}
  cast(pg_typeof({{ column }}) as text) in ('double precision', 'real', 'numeric') and {{ sievert.text_is_nan(column) }}
{%- endmacro %}

{% macro cells_of(model, quasi, sensitive, leave_out_suppressed) %}
  {%- set columns = [quasi] if quasi is string else quasi -%}
  {%- if not columns -%}{{ exceptions.raise_compiler_error("no quasi-identifier given") }}{%- endif -%}
  select {% for column in columns %}q{{ loop.index }}, {% endfor %}secret, count(*) as people
  from (
    select
      {% for column in columns %}{{ sievert.without_nan(column) }} as q{{ loop.index }}, {% endfor -%}
      {% if sensitive %}{{ sievert.without_nan(sensitive, true) }}{% else %}1{% endif %} as secret
    from {{ model }}
    where not ({{ sievert.suppressed_condition(quasi, leave_out_suppressed) }})
  ) as kept
  group by {% for column in columns %}q{{ loop.index }}, {% endfor %}secret
{% endmacro %}

{% macro classes_of(model, quasi, sensitive, leave_out_suppressed) %}
  {%- set columns = [quasi] if quasi is string else quasi -%}
  select
    sum(people) as people,
    count(*) as all_values,
    sum(case when secret is null then 0 else 1 end) as known_values
  from ({{ sievert.cells_of(model, quasi, sensitive, leave_out_suppressed) }}) as cells
  group by {% for column in columns %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
{% endmacro %}

{# k: the smallest class. #}
{% macro k_anonymity_of(model, quasi, leave_out_suppressed=true) %}
  select smallest.k, counted.records, counted.suppressed
  from (
    select min(people) as k from ({{ sievert.classes_of(model, quasi, none, leave_out_suppressed) }}) as classes
  ) as smallest
  cross join ({{ sievert.records_of(model, quasi, leave_out_suppressed) }}) as counted
{% endmacro %}

{# l: the fewest values of a secret in a class, and the fewest of those that are not missing. #}
{% macro l_diversity_of(model, quasi, sensitive, leave_out_suppressed=true) %}
  select smallest.l, smallest.l_without_missing, counted.records, counted.suppressed
  from (
    select
      min(all_values) as l,
      min(case when known_values > 0 then known_values end) as l_without_missing
    from ({{ sievert.classes_of(model, quasi, sensitive, leave_out_suppressed) }}) as classes
  ) as smallest
  cross join ({{ sievert.records_of(model, quasi, leave_out_suppressed) }}) as counted
{% endmacro %}

{# How many people are alone in their class, and of how many. #}
{% macro unique_share_of(model, quasi, leave_out_suppressed=true) %}
  select alone.uniques, alone.people, counted.records, counted.suppressed
  from (
    select sum(case when people = 1 then 1 else 0 end) as uniques, sum(people) as people
    from ({{ sievert.classes_of(model, quasi, none, leave_out_suppressed) }}) as classes
  ) as alone
  cross join ({{ sievert.records_of(model, quasi, leave_out_suppressed) }}) as counted
{% endmacro %}
